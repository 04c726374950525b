#ifndef CL_INTERNAL_H
#define CL_INTERNAL_H

#include "CLimits.h"

#include <string.h>

/// CRC32C of the engine (Sources/CPlatform), which the benchmark is linked with.
uint32_t cp_crc32c(uint32_t state, const void *bytes, size_t length);

/// Hash for keys that aren't chosen to collide: one multiplication.
static inline uint64_t cl_hash(const void *key) {
    uint64_t a, b;
    memcpy(&a, key, 8);
    memcpy(&b, (const uint8_t *)key + CL_KEY_BYTES - 8, 8);
    __uint128_t product = (__uint128_t)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xE7037ED1A0B428DBu);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/// 0, available only with `result`: without this dependency the processor would start several look-ups at once, unlike a
/// program that uses each value.
static inline uint64_t cl_nothing(uint64_t result) {
    __asm__ volatile("" : "+r"(result));
    result &= 0;
    __asm__ volatile("" : "+r"(result));
    return result;
}

/// Five buckets for sixteen entries, like the engine's index.
static inline size_t cl_buckets(size_t entries) { return entries * 5 / 16 + 64; }
static inline size_t cl_bucket(uint64_t hash, size_t buckets) {
    return (size_t)(((hash >> 32) * buckets) >> 32);
}

/// Maps a new file of a size for writing. NULL, with errno, on failure.
void *cl_map_new(const char *path, size_t bytes, int *descriptor);
/// Maps a file for reading, with all pages in memory. NULL, with errno, on failure.
const void *cl_map(const char *path, size_t *bytes, bool all);

#endif
