// The minimum work of operations like the engine's, as plain loops over memory: no types, no error codes, no eviction, no
// expiry, no recovery. A handle is for one thread at a time. LIMITS.md lists the work of each operation.
#ifndef CLIMITS_H
#define CLIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CL_KEY_BYTES = 12 };

// MARK: Values under keys

/// Records in a mapped file, found through buckets in another one: a cache line each, with eight entries. A put is in the
/// kernel's page cache when the call returns.
typedef struct cl_store cl_store;

/// A store for a number of entries and a maximum size of values, as two files in a folder. NULL, with errno, on failure.
cl_store *cl_open(const char *folder, size_t entries, size_t value_bytes);
/// The same store for another thread.
cl_store *cl_share(const cl_store *store);
/// Also unmaps the files of the first handle.
void cl_close(cl_store *store);
/// False without space.
bool cl_put(cl_store *store, const void *key, const void *value, size_t bytes);
/// The value, after its checksum was verified; NULL if absent. The next call with this handle starts after `cl_used` was
/// passed a result that depends on the value.
const void *cl_access(cl_store *store, const void *key, size_t *bytes);
static inline void cl_used(cl_store *store, uint64_t result) { *(uint64_t *)store = result; }

// MARK: Scans

/// Files mapped for reading, with all pages in memory.
typedef struct cl_files cl_files;
/// NULL, with errno, if a file can't be read.
cl_files *cl_files_map(const char *const *paths, size_t count);
void cl_files_unmap(cl_files *files);
/// Reads the files as frames of `frame` bytes each, and sums up their checksums. With `entries`, adds each frame to an index
/// of that size in a new file `index`. False, with errno, on failure.
bool cl_files_scan(const cl_files *files, size_t frame, size_t entries, const char *index, uint64_t *sum);
/// Opens and maps two files, reads an index's header and one bucket, and checks one frame.
bool cl_open_files(const char *index, const char *segment, size_t frame, uint64_t *sum);

// MARK: Messages

/// A ring of messages in a mapped file.
typedef struct cl_ring cl_ring;
cl_ring *cl_ring_open(const char *path, size_t bytes);
void cl_ring_close(cl_ring *ring);
void cl_ring_append(cl_ring *ring, const void *message, size_t bytes);

// MARK: Objects in memory

/// Reference-counted objects under keys of up to 16 bytes, padded with zeros.
typedef struct cl_shelf cl_shelf;
cl_shelf *cl_shelf_make(const void *keys, const int64_t *values, size_t count);
void cl_shelf_free(cl_shelf *shelf);
/// Looks up the object, checks in the index that it is unchanged, retains, reads and releases it.
int64_t cl_shelf_get(cl_shelf *shelf, const void *key);

#endif
