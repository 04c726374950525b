#include "CPlatform.h"

#include <pthread.h>

uint32_t cp_forks_seen;

static pthread_once_t watching = PTHREAD_ONCE_INIT;

// Runs in the child, which has one thread and may be in another time namespace.
static void count_fork(void) {
    cp_forks_seen++;
    cp_find_boot_shift();
}
static void watch(void) { pthread_atfork(NULL, NULL, count_fork); }

uint32_t cp_watch_forks(void) {
    pthread_once(&watching, watch);
    return cp_fork_count();
}
