#include "internal.h"

#include <stdlib.h>

// An object: its reference count and one property. And the line of an index that says whether it is current.
typedef struct { uint64_t references; int64_t value; uint8_t rest[112]; } object;
typedef struct { uint64_t version; uint8_t rest[56]; } line;
typedef struct { uint8_t key[16]; object *held; line *line; } place;

struct cl_shelf {
    // The last result: the next look-up starts when it is known.
    int64_t after;
    size_t mask;
    place *places;
    object *objects;
    line *lines;
};

static inline uint64_t hash(const void *key) {
    uint64_t words[2];
    memcpy(words, key, 16);
    __uint128_t product = (__uint128_t)(words[0] ^ 0x9E3779B97F4A7C15u) * (words[1] ^ 0xE7037ED1A0B428DBu);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline place *find(const cl_shelf *shelf, const void *key) {
    for (size_t number = hash(key);; number++) {
        place *found = shelf->places + (number & shelf->mask);
        if (!found->held || memcmp(found->key, key, 16) == 0) return found;
    }
}

cl_shelf *cl_shelf_make(const void *keys, const int64_t *values, size_t count) {
    cl_shelf *shelf = calloc(1, sizeof *shelf);
    if (!shelf) return NULL;
    size_t size = 64;
    while (size < 2 * count) size *= 2;
    shelf->mask = size - 1;
    shelf->places = calloc(size, sizeof(place));
    shelf->objects = calloc(count, sizeof(object));
    shelf->lines = calloc(count, sizeof(line));
    if (!shelf->places || !shelf->objects || !shelf->lines) {
        cl_shelf_free(shelf);
        return NULL;
    }
    for (size_t number = 0; number < count; number++) {
        const uint8_t *key = (const uint8_t *)keys + 16 * number;
        place *own = find(shelf, key);
        memcpy(own->key, key, 16);
        own->held = shelf->objects + number;
        own->line = shelf->lines + number;
        own->held->references = 1;
        own->held->value = values[number];
    }
    return shelf;
}

void cl_shelf_free(cl_shelf *shelf) {
    free(shelf->places);
    free(shelf->objects);
    free(shelf->lines);
    free(shelf);
}

int64_t cl_shelf_get(cl_shelf *shelf, const void *key) {
    place *found = find(shelf, (const uint8_t *)key + cl_nothing((uint64_t)shelf->after));
    object *held = found->held;
    if (!held || __atomic_load_n(&found->line->version, __ATOMIC_ACQUIRE)) return -1;
    __atomic_fetch_add(&held->references, 1, __ATOMIC_RELAXED);
    int64_t value = held->value;
    __atomic_fetch_sub(&held->references, 1, __ATOMIC_ACQ_REL);
    shelf->after = value;
    return value;
}
