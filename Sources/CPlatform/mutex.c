#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CPlatform.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#if defined(__linux__)

_Static_assert(sizeof(pthread_mutex_t) <= CP_MUTEX_BYTES, "the index reserves CP_MUTEX_BYTES for the mutex");

bool cp_mutex_supported(void) { return true; }

int cp_mutex_init(void *memory) {
    pthread_mutexattr_t attributes;
    int failure = pthread_mutexattr_init(&attributes);
    if (failure) return failure;
    failure = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (!failure) failure = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    if (!failure) failure = pthread_mutex_init((pthread_mutex_t *)memory, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return failure;
}

// A robust mutex whose owner died stays usable only if it is marked consistent before it is unlocked.
static int adopted(void *memory, int result) {
    if (result == EOWNERDEAD) pthread_mutex_consistent((pthread_mutex_t *)memory);
    return result;
}

// Waits use the monotonic clock where possible (glibc 2.30). Elsewhere setting the wall clock can make one wait longer
// or shorter; the caller measures the whole with the monotonic clock.
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 30)
#define WAIT_CLOCK CLOCK_MONOTONIC
#define TIMED_LOCK(mutex, deadline) pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, deadline)
#else
#define WAIT_CLOCK CLOCK_REALTIME
#define TIMED_LOCK(mutex, deadline) pthread_mutex_timedlock(mutex, deadline)
#endif

int cp_mutex_lock(void *memory, int64_t nanoseconds) {
    struct timespec deadline;
    clock_gettime(WAIT_CLOCK, &deadline);
    int64_t sum = deadline.tv_nsec + nanoseconds;
    deadline.tv_sec += sum / 1000000000;
    deadline.tv_nsec = sum % 1000000000;
    return adopted(memory, TIMED_LOCK((pthread_mutex_t *)memory, &deadline));
}

int cp_mutex_trylock(void *memory) { return adopted(memory, pthread_mutex_trylock((pthread_mutex_t *)memory)); }
int cp_mutex_unlock(void *memory) { return pthread_mutex_unlock((pthread_mutex_t *)memory); }

#else

bool cp_mutex_supported(void) { return false; }
int cp_mutex_init(void *memory) { (void)memory; return ENOTSUP; }
int cp_mutex_lock(void *memory, int64_t nanoseconds) { (void)memory; (void)nanoseconds; return ENOTSUP; }
int cp_mutex_trylock(void *memory) { (void)memory; return ENOTSUP; }
int cp_mutex_unlock(void *memory) { (void)memory; return ENOTSUP; }

#endif
