#pragma once

#include <stddef.h>

/// The cities of the demonstration, lines of JSON made from GeoNames (CC BY 4.0); see `Assets/demo/LICENSE.md`.
extern const unsigned char *const demo_cities;
/// In bytes.
extern const size_t demo_cities_size;
