#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// A record: checksum of the rest, length of the value, number, key, value; padded to a multiple of 8 bytes.
enum { HEADER = 16, FIRST_RECORD = 64, CELLS = 8 };
// Minimum and maximum growth of the file, and maximum number of bytes populated at a time; in between, an eighth of the
// present size.
static const size_t FEWEST = 64u << 10, STEP = 16u << 20, PAGES = 1u << 20;

// A cell of a bucket: 24 bits of the hash, and the record's offset divided by 8.
enum { PLACE_BITS = 40 };

struct cl_store {
    // The previous result; must stay the first field.
    uint64_t after;
    uint8_t *records;
    uint64_t *table;
    size_t record_bytes, mapped_bytes, buckets;
    // The end of the records, of the allocated blocks and of the populated pages, and the record replaced last.
    size_t end, allocated, populated, freed;
    uint64_t number;
    int file;
    bool is_shared;
};

cl_store *cl_open(const char *folder, size_t entries, size_t value_bytes) {
    char path[1024];
    cl_store *store = calloc(1, sizeof *store);
    if (!store) return NULL;
    store->record_bytes = (HEADER + CL_KEY_BYTES + value_bytes + 7) & ~(size_t)7;
    store->mapped_bytes = (FIRST_RECORD + (entries + 1) * store->record_bytes + STEP - 1) / STEP * STEP;
    store->buckets = cl_buckets(entries);
    store->end = FIRST_RECORD;
    snprintf(path, sizeof path, "%s/records", folder);
    store->records = cl_map_new(path, store->mapped_bytes, &store->file);
    snprintf(path, sizeof path, "%s/table", folder);
    store->table = store->records ? cl_map_new(path, store->buckets * 64, NULL) : NULL;
    if (store->table) return store;
    free(store);
    return NULL;
}

cl_store *cl_share(const cl_store *store) {
    cl_store *other = malloc(sizeof *other);
    if (!other) return NULL;
    *other = *store;
    other->is_shared = true;
    return other;
}

void cl_close(cl_store *store) {
    if (!store->is_shared) {
        munmap(store->records, store->mapped_bytes);
        munmap(store->table, store->buckets * 64);
        close(store->file);
    }
    free(store);
}

static inline size_t place_of(uint64_t cell) {
    return (size_t)((cell << (64 - PLACE_BITS)) >> (64 - PLACE_BITS - 3));
}

// The key's cell, or a free cell, which is 0. The last bucket with a free cell ends the search.
static inline uint64_t *find(const cl_store *store, const uint8_t *key, uint64_t hash) {
    uint64_t tag = hash << PLACE_BITS;
    size_t bucket = cl_bucket(hash, store->buckets);
    for (;; bucket = bucket + 1 == store->buckets ? 0 : bucket + 1) {
        uint64_t *cells = store->table + CELLS * bucket;
        for (int place = 0; place < CELLS; place++) {
            uint64_t cell = __atomic_load_n(cells + place, __ATOMIC_ACQUIRE);
            if (!cell) return cells + place;
            if ((cell ^ tag) >> PLACE_BITS) continue;
            const uint8_t *record = store->records + place_of(cell);
            if (memcmp(record + HEADER, key, CL_KEY_BYTES) == 0) return cells + place;
        }
    }
}

static size_t step(size_t end, size_t most) {
    size_t share = (end / 8 + FEWEST - 1) / FEWEST * FEWEST;
    return share < most ? share : most;
}

// Allocates blocks and populates pages for one more record, several at a time.
static bool extend(cl_store *store) {
    size_t end = store->end + store->record_bytes;
    if (end > store->mapped_bytes) return false;
    while (end > store->populated) {
        size_t pages = step(end, PAGES);
        if (store->populated + pages > store->mapped_bytes) pages = store->mapped_bytes - store->populated;
        while (store->populated + pages > store->allocated) {
            size_t blocks = step(end, STEP);
#if defined(__linux__)
            if (posix_fallocate(store->file, (off_t)store->allocated, (off_t)blocks)) return false;
#endif
            store->allocated += blocks;
        }
#if defined(MADV_POPULATE_WRITE)
        madvise(store->records + store->populated, pages, MADV_POPULATE_WRITE);
#endif
        store->populated += pages;
    }
    return true;
}

bool cl_put(cl_store *store, const void *key, const void *value, size_t bytes) {
    uint64_t hash = cl_hash(key);
    // In the file, where all writers can access it.
    uint32_t *lock = (uint32_t *)store->records;
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {}
    uint64_t *cell = find(store, key, hash);
    size_t old = *cell ? place_of(*cell) : 0, place = store->freed;
    bool is_new = !old || !place;
    if (is_new) {
        if (store->end + store->record_bytes > store->populated && !extend(store)) {
            __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
            return false;
        }
        place = store->end;
        store->end += store->record_bytes;
    }
    uint8_t *record = store->records + place;
    uint64_t number = ++store->number;
    uint32_t length = (uint32_t)bytes;
    memcpy(record + 4, &length, 4);
    memcpy(record + 8, &number, 8);
    memcpy(record + HEADER, key, CL_KEY_BYTES);
    memcpy(record + HEADER + CL_KEY_BYTES, value, bytes);
    uint32_t checksum = cp_crc32c(~0u, record + 4, HEADER - 4 + CL_KEY_BYTES + bytes);
    memcpy(record, &checksum, 4);
    __atomic_store_n(cell, hash << PLACE_BITS | place >> 3, __ATOMIC_RELEASE);
    // A put reuses the record replaced last, so records are never copied to free space.
    if (old) store->freed = old;
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
    return true;
}

const void *cl_access(cl_store *store, const void *key, size_t *bytes) {
    const uint8_t *own = (const uint8_t *)key + cl_nothing(store->after);
    uint64_t cell = *find(store, own, cl_hash(own));
    if (!cell) return NULL;
    const uint8_t *record = store->records + place_of(cell);
    uint32_t length, checksum;
    memcpy(&checksum, record, 4);
    memcpy(&length, record + 4, 4);
    if (cp_crc32c(~0u, record + 4, HEADER - 4 + CL_KEY_BYTES + length) != checksum) return NULL;
    *bytes = length;
    return record + HEADER + CL_KEY_BYTES;
}
