// The least that operations like the engine's must do, as plain loops over memory: no types, no errors that can be told
// apart, no eviction, no deadlines, no recovery. One thread at a time uses a handle. LIMITS.md says what of it each operation
// consists of.
#ifndef CLIMITS_H
#define CLIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CL_KEY_BYTES = 12 };

// MARK: Values under keys

/// Records in a mapped file, found by buckets in another one: a cache line each, eight entries. What was put is in the
/// kernel's hands when the call returns.
typedef struct cl_store cl_store;

/// For so many entries, each with a value of at most so many bytes, as two files in a folder. NULL, with errno, if they can't
/// be made.
cl_store *cl_open(const char *folder, size_t entries, size_t value_bytes);
/// The same store for another thread.
cl_store *cl_share(const cl_store *store);
/// Also unmaps what the first handle has mapped.
void cl_close(cl_store *store);
/// False if there is no room.
bool cl_put(cl_store *store, const void *key, const void *value, size_t bytes);
/// The value, whose checksum was right; NULL if there is none. The next call with this handle begins when `cl_used` was told
/// something that depends on the value.
const void *cl_access(cl_store *store, const void *key, size_t *bytes);
static inline void cl_used(cl_store *store, uint64_t result) { *(uint64_t *)store = result; }

// MARK: All of it

/// Files that are mapped to be read, all their pages at hand.
typedef struct cl_files cl_files;
/// NULL, with errno, if one can't be read.
cl_files *cl_files_map(const char *const *paths, size_t count);
void cl_files_unmap(cl_files *files);
/// Reads them as if they were frames of `frame` bytes each, and sums their checksums up. With `entries`, each frame gets its place
/// in an index for so many, in a new file `index`. False, with errno, if that can't be made.
bool cl_files_scan(const cl_files *files, size_t frame, size_t entries, const char *index, uint64_t *sum);
/// Opens two files, maps them, looks at an index' header and one bucket of it and checks one frame.
bool cl_open_files(const char *index, const char *segment, size_t frame, uint64_t *sum);

// MARK: Messages

/// A ring of messages in a mapped file.
typedef struct cl_ring cl_ring;
cl_ring *cl_ring_open(const char *path, size_t bytes);
void cl_ring_close(cl_ring *ring);
void cl_ring_append(cl_ring *ring, const void *message, size_t bytes);

// MARK: Objects in memory

/// Objects that are counted references, under keys of up to 16 bytes, zeros behind.
typedef struct cl_shelf cl_shelf;
cl_shelf *cl_shelf_make(const void *keys, const int64_t *values, size_t count);
void cl_shelf_free(cl_shelf *shelf);
/// Looks the object up, sees from a word of its own that nobody changed it, takes a reference, reads it and gives the
/// reference back.
int64_t cl_shelf_get(cl_shelf *shelf, const void *key);

#endif
