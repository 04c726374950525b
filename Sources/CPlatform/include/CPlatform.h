// What Swift cannot reach by itself: atomics on mapped memory, process-shared robust mutexes, the
// processor's CRC32C instruction, and system calls that Swift does not import (variadic ones).
// Nothing here decides anything: policy lives in StorageEngine.
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
// Loads before it are done before loads after it.
static inline void cp_load_fence(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
// Stores before it are seen before stores after it.
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

// MARK: CRC32C (Castagnoli polynomial, reflected 0x82F63B78), hardware where the processor has it.

/// The register after `length` more bytes; start with ~seed and finish with ~result.
uint32_t cp_crc32c(uint32_t state, const void *bytes, size_t length);
/// The same by table, for processors without the instruction and for the tests that compare both.
uint32_t cp_crc32c_portable(uint32_t state, const void *bytes, size_t length);

// MARK: Mutex in mapped memory, for processes and threads.

enum { CP_MUTEX_BYTES = 64 };
/// Whether this platform has process-shared robust mutexes.
bool cp_mutex_supported(void);
/// 0 or an errno.
int cp_mutex_init(void *memory);
/// 0 acquired; EOWNERDEAD acquired from an owner that died; ETIMEDOUT; another errno.
/// `nanoseconds` < 0 waits without limit.
int cp_mutex_lock(void *memory, int64_t nanoseconds);
/// As cp_mutex_lock without waiting; EBUSY when another holds it.
int cp_mutex_trylock(void *memory);
int cp_mutex_unlock(void *memory);

// MARK: Forks

// Changed in a forked child only, before any of its own code runs.
extern uint32_t cp_forks_seen;
/// Differs between a process and its forked child, once cp_watch_forks() was called in the parent.
static inline uint32_t cp_fork_count(void) { return __atomic_load_n(&cp_forks_seen, __ATOMIC_RELAXED); }
/// Makes cp_fork_count() count from now on, and gives the present count.
uint32_t cp_watch_forks(void);

// MARK: System calls that are variadic, or differ between platforms.

/// Puts /dev/null in the place of those of the descriptors 0, 1 and 2 that are closed, opened so that reading and writing
/// still fail there.
void cp_occupy_standard_descriptors(void);
/// As openat(2) with O_CLOEXEC, but never gives 0, 1 or 2, where those were closed: whatever the program prints or logs would
/// be written into the file.
int cp_openat(int directory, const char *name, int flags, mode_t mode);
/// Reserves blocks for bytes [0, length) and makes the file that long. 0 or an errno.
int cp_preallocate(int descriptor, off_t length);
/// When the file was made, in nanoseconds since 1970; 0 where the file system does not say.
uint64_t cp_birth_time(int descriptor);
/// Gives the blocks behind bytes [from, to) back; they then read as zeros, and the file keeps its length.
/// 0 or an errno.
int cp_punch(int descriptor, off_t from, off_t to);
/// The next stretch of the file from `from` on that isn't a hole; false where there is none. Where that isn't known, all
/// of it.
bool cp_next_data(int descriptor, off_t from, off_t *begin, off_t *end);
/// Whether a hole of a file in that folder can be read through a mapping however full its file system is: not so where
/// reading takes a page of the file system's room, as on tmpfs. Tried with a file that has no name; false where there can
/// be none.
bool cp_holes_are_readable(int folder);
/// The most that this process may have, in bytes or files; UINT64_MAX: no limit.
uint64_t cp_limit_addresses(void);
uint64_t cp_limit_file_bytes(void);
uint64_t cp_limit_open_files(void);
/// Microseconds since 1970 from the cheapest clock that is right within a few milliseconds.
int64_t cp_coarse_time(void);
/// Microseconds since the machine was started, suspension included; no change of the wall clock moves it, and it is the
/// same in all time namespaces.
int64_t cp_boot_time(void);
/// By how many microseconds the wall clock is ahead of the boot clock, right within a few.
int64_t cp_wall_offset(void);
/// Waits while the word at `p`, in memory that processes share, has this value; at most `nanoseconds`, and
/// perhaps shorter. Where the system has no such call it sleeps a part of the time.
void cp_wait_word(const void *p, uint32_t value, int64_t nanoseconds);
/// Wakes everyone who waits for a change of the word at `p`.
void cp_wake_word(void *p);
/// Nanoseconds of a clock that nobody sets.
int64_t cp_monotonic_time(void);
/// Returns when what was written to the file, also through the mapping at `mapped` (or NULL), is on the
/// medium. 0, or -1 and errno.
int cp_synchronize(int descriptor, void *mapped, size_t length);
/// Returns when a folder's names are on the medium. 0, or -1 and errno.
int cp_synchronize_names(int descriptor);
/// Lets the kernel drop clean pages of the file that it holds in memory.
void cp_forget_cached(int descriptor);
/// A condition whose waits follow that clock.
int cp_condition_init(pthread_cond_t *condition);
/// Waits for a signal, at most `nanoseconds`. Needs the mutex.
void cp_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds);
/// Starts a detached thread that calls `body` with `context`, with all signals blocked so that they go to the
/// program's own. 0 or an errno.
int cp_start_thread(void *(*body)(void *), void *context);
/// Sleeps; a signal may end it early.
void cp_sleep(int64_t nanoseconds);
/// Sixteen bytes that name this boot of the machine. 0 or an errno.
int cp_boot_identity(uint8_t identity[16]);
/// A number that, with the pid, names one run of a process. 0, ESRCH when there is no such process, or another
/// errno when that can't be told now.
int cp_process_look_up(pid_t pid, uint64_t *start);
/// The same number; 0 when there is no such process or that can't be told.
uint64_t cp_process_start(pid_t pid);
/// By how many microseconds the boot clock of this process' time namespace is ahead of the machine's. Cheap.
int64_t cp_boot_time_shift(void);
/// Finds that out anew.
void cp_find_boot_shift(void);
/// Numbers of this process' PID and time namespaces, never 0 for the first. 0, or an errno where that can't be told, or
/// where /proc is that of another PID namespace.
int cp_namespaces(uint32_t *processes, uint32_t *times);
/// Locks one byte of a file for the open file description (or lets it go), which takes part in no other lock of the file
/// and goes with the last descriptor. Never waits. 0, EAGAIN when another description has it, or another errno.
int cp_lock_byte(int descriptor, off_t offset, bool locked);
/// The same, shared with others that lock it by this; a description that may only read can have it too.
int cp_share_byte(int descriptor, off_t offset);
/// 0 when no other description has locked the byte, EAGAIN when one has, or another errno.
int cp_byte_lock_is_held(int descriptor, off_t offset);
/// Fills `bytes` from the system's random source. 0 or an errno.
int cp_random(void *bytes, size_t length);

#endif
