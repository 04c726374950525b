// Functions that Swift can't express: atomics on mapped memory, process-shared robust mutexes, the processor's CRC32C
// instruction, and system calls that Swift doesn't import (variadic ones). This module makes no decisions;
// StorageEngine does.
#ifndef CPLATFORM_H
#define CPLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <sys/types.h>

// MARK: Atomics on memory that other processes map. Pointers must be naturally aligned.

static inline uint32_t cp_load32(const void *p) { return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE); }
static inline uint64_t cp_load64(const void *p) { return __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE); }
static inline uint32_t cp_relaxed32(const void *p) { return __atomic_load_n((const uint32_t *)p, __ATOMIC_RELAXED); }
static inline uint64_t cp_relaxed64(const void *p) { return __atomic_load_n((const uint64_t *)p, __ATOMIC_RELAXED); }
static inline void cp_store32(void *p, uint32_t v) { __atomic_store_n((uint32_t *)p, v, __ATOMIC_RELEASE); }
static inline void cp_store64(void *p, uint64_t v) { __atomic_store_n((uint64_t *)p, v, __ATOMIC_RELEASE); }
static inline void cp_relaxed_store32(void *p, uint32_t v) { __atomic_store_n((uint32_t *)p, v, __ATOMIC_RELAXED); }
static inline void cp_relaxed_store64(void *p, uint64_t v) { __atomic_store_n((uint64_t *)p, v, __ATOMIC_RELAXED); }
static inline uint64_t cp_add64(void *p, uint64_t v) { return __atomic_fetch_add((uint64_t *)p, v, __ATOMIC_SEQ_CST); }
static inline uint32_t cp_add32(void *p, uint32_t v) { return __atomic_fetch_add((uint32_t *)p, v, __ATOMIC_SEQ_CST); }
static inline void cp_or64(void *p, uint64_t bits) { __atomic_fetch_or((uint64_t *)p, bits, __ATOMIC_SEQ_CST); }
static inline void cp_and64(void *p, uint64_t bits) { __atomic_fetch_and((uint64_t *)p, bits, __ATOMIC_SEQ_CST); }
static inline bool cp_cas32(void *p, uint32_t expected, uint32_t desired) {
    return __atomic_compare_exchange_n((uint32_t *)p, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
static inline bool cp_cas64(void *p, uint64_t expected, uint64_t desired) {
    return __atomic_compare_exchange_n((uint64_t *)p, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
// Earlier loads complete before later loads.
static inline void cp_load_fence(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
// Earlier stores become visible before later stores.
static inline void cp_store_fence(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }
static inline void cp_prefetch(const void *p) { __builtin_prefetch(p, 0, 3); }
static inline void cp_prefetch_write(const void *p) { __builtin_prefetch(p, 1, 3); }
static inline void cp_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

// MARK: CRC32C (Castagnoli polynomial, reflected 0x82F63B78), in hardware if the processor supports it.

/// The register after `length` more bytes. Start with ~seed, and finish with ~result.
uint32_t cp_crc32c(uint32_t state, const void *bytes, size_t length);
/// Like cp_crc32c with tables, for processors without the instruction, and for tests that compare both.
uint32_t cp_crc32c_portable(uint32_t state, const void *bytes, size_t length);

// MARK: A mutex in mapped memory, for processes and threads.

enum { CP_MUTEX_BYTES = 56 };
bool cp_mutex_supported(void);
/// Returns 0 or an errno.
int cp_mutex_init(void *memory);
/// Returns 0 if the mutex was acquired, EOWNERDEAD if its owner had died, ETIMEDOUT, or another errno.
int cp_mutex_lock(void *memory, int64_t nanoseconds);
/// Like cp_mutex_lock without waiting; returns EBUSY if the mutex is held.
int cp_mutex_trylock(void *memory);
int cp_mutex_unlock(void *memory);

// MARK: Forks

// Changed only in a forked child, before any of its code runs.
extern uint32_t cp_forks_seen;
/// Differs between a process and its forked child, once cp_watch_forks() was called in the parent.
static inline uint32_t cp_fork_count(void) { return __atomic_load_n(&cp_forks_seen, __ATOMIC_RELAXED); }
/// Makes cp_fork_count() count from now on, and returns the present count.
uint32_t cp_watch_forks(void);

// MARK: System calls that are variadic, or differ between platforms.

/// Opens /dev/null for closed ones of the descriptors 0, 1 and 2, such that reading and writing them still fails.
void cp_occupy_standard_descriptors(void);
/// Like openat(2) with O_CLOEXEC, but never returns 0, 1 or 2, so that the program's output isn't written into the
/// file.
int cp_openat(int directory, const char *name, int flags, mode_t mode);
/// Allocates blocks for the bytes [0, length), and extends the file to that size. Returns 0 or an errno.
int cp_preallocate(int descriptor, off_t length);
/// When the file was created, in nanoseconds since 1970; 0 if the file system doesn't record it.
uint64_t cp_birth_time(int descriptor);
/// Frees the blocks of the bytes [from, to), which then read as zeros; the size stays. Returns 0 or an errno.
int cp_punch(int descriptor, off_t from, off_t to);
/// Finds the next range without holes from `from` on; returns false without one. If holes can't be detected, the range is the
/// whole rest.
bool cp_next_data(int descriptor, off_t from, off_t *begin, off_t *end);
/// Whether holes of files in that folder can be read through a mapping even if the file system is full. Not so if
/// reading allocates a page, as on tmpfs. Tested with a file without a name; false if that can't be created.
bool cp_holes_are_readable(int folder);
/// This process's limit, in bytes or files; UINT64_MAX: no limit.
uint64_t cp_limit_addresses(void);
uint64_t cp_limit_file_bytes(void);
uint64_t cp_limit_open_files(void);
/// Microseconds since 1970, from the cheapest clock that is accurate to a few milliseconds.
int64_t cp_coarse_time(void);
/// Microseconds since the machine was started, including sleep; can't be set, and is the same in all time namespaces.
int64_t cp_boot_time(void);
/// By how many microseconds the wall clock is ahead of the boot clock, accurate to a few.
int64_t cp_wall_offset(void);
/// Waits while the word at `p`, in memory shared by processes, has this value; for at most `nanoseconds`, and perhaps
/// less. On systems without such a call it sleeps for a part of the time.
void cp_wait_word(const void *p, uint32_t value, int64_t nanoseconds);
/// Wakes all that wait for a change of the word at `p`.
void cp_wake_word(void *p);
/// Nanoseconds of a clock that can't be set.
int64_t cp_monotonic_time(void);
/// Returns when all writes to the file, also through the mapping at `mapped` (or NULL), are on the medium. Returns 0,
/// or -1 and sets errno.
int cp_synchronize(int descriptor, void *mapped, size_t length);
/// Returns when a folder's names are on the medium. Returns 0, or -1 and sets errno.
int cp_synchronize_names(int descriptor);
/// Makes the kernel drop clean cached pages of the file.
void cp_forget_cached(int descriptor);
/// A condition whose waits use the monotonic clock. Returns 0 or an errno.
int cp_condition_init(pthread_cond_t *condition);
/// Waits for a signal, at most `nanoseconds`. Requires the mutex.
void cp_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds);
/// Starts a detached thread that calls `body` with `context`, with all signals blocked. Returns 0 or an errno.
int cp_start_thread(void *(*body)(void *), void *context);
/// Sleeps; a signal may end the sleep early.
void cp_sleep(int64_t nanoseconds);
/// Sixteen bytes that identify this boot of the machine. Returns 0 or an errno.
int cp_boot_identity(uint8_t identity[16]);
/// A number that, with the process number, identifies one run of a process. Returns 0, ESRCH if that process doesn't
/// exist, or another errno if this is unknown now.
int cp_process_look_up(pid_t pid, uint64_t *start);
/// Like cp_process_look_up; 0 if the process doesn't exist or this is unknown.
uint64_t cp_process_start(pid_t pid);
/// By how many microseconds the boot clock of this process's time namespace is ahead of the machine's. Cheap.
int64_t cp_boot_time_shift(void);
/// Determines the value of cp_boot_time_shift again.
void cp_find_boot_shift(void);
/// Identifies this process's PID and time namespaces; the first number is never 0. Returns 0, or an errno if they are
/// unknown, or if /proc belongs to another PID namespace.
int cp_namespaces(uint32_t *processes, uint32_t *times);
/// Locks or unlocks one byte of a file for the open file description. Independent of the file's other locks; released
/// with the last descriptor. Never waits. Returns 0, EAGAIN if another description holds it, or another errno.
int cp_lock_byte(int descriptor, off_t offset, bool locked);
/// Like cp_lock_byte, as a shared lock. A read-only description can hold it, too.
int cp_share_byte(int descriptor, off_t offset);
/// Returns 0 if no other description has locked the byte, EAGAIN if one has, or another errno.
int cp_byte_lock_is_held(int descriptor, off_t offset);
/// Fills `bytes` from the system's random source. Returns 0 or an errno.
int cp_random(void *bytes, size_t length);

#endif
