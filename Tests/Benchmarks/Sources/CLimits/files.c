#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void *cl_map_new(const char *path, size_t bytes, int *descriptor) {
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0) return NULL;
    void *mapped = ftruncate(file, (off_t)bytes) == 0
        ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (mapped == MAP_FAILED || !descriptor) close(file);
    if (mapped == MAP_FAILED) return NULL;
    if (descriptor) *descriptor = file;
    return mapped;
}

const void *cl_map(const char *path, size_t *bytes, bool all) {
    struct stat facts;
    int file = open(path, O_RDONLY);
    if (file < 0) return NULL;
    int flags = MAP_SHARED;
#if defined(MAP_POPULATE)
    if (all) flags |= MAP_POPULATE;
#endif
    const void *mapped = fstat(file, &facts) == 0
        ? mmap(NULL, (size_t)facts.st_size, PROT_READ, flags, file, 0) : MAP_FAILED;
    close(file);
    if (mapped == MAP_FAILED) return NULL;
    *bytes = (size_t)facts.st_size;
    return mapped;
}

struct cl_files {
    size_t count;
    struct { const uint8_t *mapped; size_t bytes; } files[];
};

cl_files *cl_files_map(const char *const *paths, size_t count) {
    cl_files *files = calloc(1, sizeof *files + count * sizeof *files->files);
    if (!files) return NULL;
    for (; files->count < count; files->count++) {
        const uint8_t *mapped = cl_map(paths[files->count], &files->files[files->count].bytes, true);
        if (!mapped) {
            cl_files_unmap(files);
            return NULL;
        }
        files->files[files->count].mapped = mapped;
    }
    return files;
}

void cl_files_unmap(cl_files *files) {
    for (size_t place = 0; place < files->count; place++)
        munmap((void *)files->files[place].mapped, files->files[place].bytes);
    free(files);
}

bool cl_files_scan(const cl_files *files, size_t frame, size_t entries, const char *index, uint64_t *sum) {
    size_t buckets = cl_buckets(entries), total = 0;
    uint64_t *table = NULL, number = 0;
    if (entries && !(table = cl_map_new(index, buckets * 64, NULL))) return false;
    for (size_t place = 0; place < files->count; place++) {
        const uint8_t *file = files->files[place].mapped;
        for (size_t offset = 0; offset + frame <= files->files[place].bytes; offset += frame) {
            uint32_t checksum = cp_crc32c(~0u, file + offset, frame);
            total += checksum;
            if (!table) continue;
            // The position of the key in a frame is unknown here; the checksum selects as random a bucket.
            uint64_t hash = checksum * 0x9E3779B97F4A7C15u;
            uint64_t *cells = table + 8 * cl_bucket(hash, buckets);
            int cell = 0;
            while (cell < 7 && cells[cell]) cell++;
            cells[cell] = ++number;
        }
    }
    if (table) munmap(table, buckets * 64);
    *sum = total;
    return true;
}

bool cl_open_files(const char *index, const char *segment, size_t frame, uint64_t *sum) {
    size_t index_bytes, segment_bytes;
    const uint8_t *first = cl_map(index, &index_bytes, false);
    if (!first) return false;
    const uint8_t *second = cl_map(segment, &segment_bytes, false);
    if (!second) return false;
    *sum = first[0] + first[index_bytes / 2] + cp_crc32c(~0u, second + segment_bytes / 2 - frame, frame);
    munmap((void *)first, index_bytes);
    munmap((void *)second, segment_bytes);
    return true;
}

struct cl_ring {
    uint8_t *mapped;
    size_t bytes, head;
    uint64_t sequence;
};

cl_ring *cl_ring_open(const char *path, size_t bytes) {
    cl_ring *ring = calloc(1, sizeof *ring);
    if (!ring) return NULL;
    ring->bytes = bytes;
    ring->mapped = cl_map_new(path, bytes + 64, NULL);
    if (ring->mapped) return ring;
    free(ring);
    return NULL;
}

void cl_ring_close(cl_ring *ring) {
    munmap(ring->mapped, ring->bytes + 64);
    free(ring);
}

// The mapping's first word is the lock, the second the end of the newest message.
void cl_ring_append(cl_ring *ring, const void *message, size_t bytes) {
    size_t record = (16 + bytes + 7) & ~(size_t)7;
    while (__atomic_exchange_n((uint64_t *)ring->mapped, 1, __ATOMIC_ACQUIRE)) {}
    if (ring->head + record > ring->bytes) ring->head = 0;
    uint8_t *place = ring->mapped + 64 + ring->head;
    uint64_t header[2] = {bytes << 32, ++ring->sequence};
    memcpy(place + 16, message, bytes);
    header[0] |= cp_crc32c((uint32_t)ring->sequence, place + 16, bytes);
    memcpy(place, header, 16);
    ring->head += record;
    __atomic_store_n((uint64_t *)ring->mapped + 1, ring->head, __ATOMIC_RELEASE);
    __atomic_store_n((uint64_t *)ring->mapped, 0, __ATOMIC_RELEASE);
}
