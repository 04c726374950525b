#include "CDemoData.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char cities[] = {
#embed "../../Assets/demo/cities.ndjson"
};
const unsigned char *const demo_cities = cities;
const size_t demo_cities_size = sizeof cities;
