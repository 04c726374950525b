#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <libproc.h>
#include <sys/sysctl.h>
#else
#include <linux/futex.h>
#include <sys/random.h>
#include <sys/syscall.h>
#endif

void cp_occupy_standard_descriptors(void) {
    for (int descriptor = 0; descriptor <= STDERR_FILENO; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
        // open(2) returns the lowest free number.
        (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

int cp_openat(int directory, const char *name, int flags, mode_t mode) {
    int descriptor = openat(directory, name, flags, mode);
    if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int code = errno;
    (void)close(descriptor);
    cp_occupy_standard_descriptors();
    errno = code;
    return moved;
}

int cp_preallocate(int descriptor, off_t length) {
#if defined(__APPLE__)
    struct stat status;
    if (fstat(descriptor, &status) != 0) return errno;
    if (length <= status.st_size) return 0;
    fstore_t request = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, length - status.st_size, 0};
    if (fcntl(descriptor, F_PREALLOCATE, &request) != 0) return errno;
    return ftruncate(descriptor, length) == 0 ? 0 : errno;
#else
    return posix_fallocate(descriptor, 0, length);
#endif
}

int cp_synchronize(int descriptor, void *mapped, size_t length) {
#if defined(__APPLE__)
    // fsync(2): only F_FULLFSYNC flushes the drive's cache; some file systems do not have it.
    if (mapped && msync(mapped, length, MS_SYNC) != 0) return -1;
    if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
    if (errno != ENOTSUP && errno != EINVAL && errno != ENOTTY) return -1;
    return fsync(descriptor);
#else
    // Pages written through a mapping are dirty pages of the file itself.
    (void)mapped;
    (void)length;
    return fdatasync(descriptor);
#endif
}

int cp_synchronize_names(int descriptor) {
#if defined(__APPLE__)
    if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
    if (errno != ENOTSUP && errno != EINVAL && errno != ENOTTY) return -1;
#endif
    // Not fdatasync: a new name that does not change the folder's size is not data to it.
    return fsync(descriptor);
}

void cp_forget_cached(int descriptor) {
#if defined(__APPLE__)
    (void)fcntl(descriptor, F_NOCACHE, 1);
#else
    (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
#endif
}

uint64_t cp_birth_time(int descriptor) {
#if defined(__APPLE__)
    struct stat status;
    if (fstat(descriptor, &status) != 0) return 0;
    return (uint64_t)status.st_birthtimespec.tv_sec * 1000000000 + (uint64_t)status.st_birthtimespec.tv_nsec;
#elif defined(STATX_BTIME)
    struct statx status;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) return 0;
    if (!(status.stx_mask & STATX_BTIME)) return 0;
    return (uint64_t)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
#else
    (void)descriptor;
    return 0;
#endif
}

int cp_punch(int descriptor, off_t from, off_t to) {
#if defined(__APPLE__)
    fpunchhole_t hole = {0, 0, from, to - from};
    return fcntl(descriptor, F_PUNCHHOLE, &hole) == 0 ? 0 : errno;
#else
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from) == 0 ? 0 : errno;
#endif
}

bool cp_next_data(int descriptor, off_t from, off_t *begin, off_t *end) {
    *begin = from;
    *end = INT64_MAX;
#if defined(SEEK_DATA)
    off_t data = lseek(descriptor, from, SEEK_DATA);
    if (data < 0) return errno != ENXIO;
    off_t hole = lseek(descriptor, data, SEEK_HOLE);
    if (hole <= data) return true;
    *begin = data;
    *end = hole;
#endif
    return true;
}

bool cp_holes_are_readable(int folder) {
#if defined(__APPLE__)
    (void)folder;
    return true;
#elif defined(O_TMPFILE) && defined(MADV_POPULATE_READ)
    // Extending a file beyond that limit would raise a signal.
    if (cp_limit_file_bytes() == 0) return false;
    int descriptor = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0) return false;
    bool readable = false;
    struct stat status;
    if (ftruncate(descriptor, 1) == 0 && fstat(descriptor, &status) == 0 && status.st_blocks == 0) {
        // Unlike an access, a failed populate raises no signal.
        void *page = mmap(NULL, 1, PROT_READ, MAP_SHARED, descriptor, 0);
        if (page != MAP_FAILED) {
            readable = madvise(page, 1, MADV_POPULATE_READ) == 0 && fstat(descriptor, &status) == 0 &&
                       status.st_blocks == 0;
            munmap(page, 1);
        }
    }
    close(descriptor);
    return readable;
#else
    (void)folder;
    return false;
#endif
}

static uint64_t limit_of(int resource) {
    struct rlimit limits;
    if (getrlimit(resource, &limits) != 0 || limits.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    return (uint64_t)limits.rlim_cur;
}

uint64_t cp_limit_addresses(void) { return limit_of(RLIMIT_AS); }
uint64_t cp_limit_file_bytes(void) { return limit_of(RLIMIT_FSIZE); }
uint64_t cp_limit_open_files(void) { return limit_of(RLIMIT_NOFILE); }

int64_t cp_coarse_time(void) {
    struct timespec now;
#if defined(CLOCK_REALTIME_COARSE)
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
#else
    clock_gettime(CLOCK_REALTIME, &now);
#endif
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t cp_boot_time(void) {
    struct timespec now;
#if defined(CLOCK_BOOTTIME)
    clock_gettime(CLOCK_BOOTTIME, &now);
#else
    // macOS: despite its name, this clock continues during sleep.
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
#endif
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000 - cp_boot_time_shift();
}

int64_t cp_wall_offset(void) {
    int64_t best = 0, narrowest = INT64_MAX;
    // Anything that happens between two readings, such as a switch to another thread, increases the gap.
    for (int attempt = 0; attempt < 8 && narrowest > 2; attempt++) {
        struct timespec now;
        int64_t before = cp_boot_time();
        clock_gettime(CLOCK_REALTIME, &now);
        int64_t gap = cp_boot_time() - before;
        if (gap >= narrowest) continue;
        narrowest = gap;
        best = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000 - before - gap / 2;
    }
    return best;
}

void cp_wait_word(const void *p, uint32_t value, int64_t nanoseconds) {
#if defined(__linux__)
    struct timespec most = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    syscall(SYS_futex, p, FUTEX_WAIT, value, &most, NULL, 0);
#else
    int64_t pause = 20000000;
    if (cp_load32(p) == value) cp_sleep(nanoseconds < pause ? nanoseconds : pause);
#endif
}

void cp_wake_word(void *p) {
#if defined(__linux__)
    syscall(SYS_futex, p, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
#else
    (void)p;
#endif
}

int64_t cp_monotonic_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int cp_condition_init(pthread_cond_t *condition) {
#if defined(__APPLE__)
    return pthread_cond_init(condition, NULL);
#else
    pthread_condattr_t attributes;
    int failure = pthread_condattr_init(&attributes);
    if (failure) return failure;
    failure = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (!failure) failure = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return failure;
#endif
}

void cp_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds) {
#if defined(__APPLE__)
    struct timespec rest = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    (void)pthread_cond_timedwait_relative_np(condition, mutex, &rest);
#else
    int64_t end = cp_monotonic_time() + nanoseconds;
    struct timespec deadline = {end / 1000000000, end % 1000000000};
    (void)pthread_cond_timedwait(condition, mutex, &deadline);
#endif
}

int cp_start_thread(void *(*body)(void *), void *context) {
    sigset_t all, before;
    sigfillset(&all);
    int failure = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (failure) return failure;
    pthread_t thread;
    failure = pthread_create(&thread, NULL, body, context);
    if (!failure) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

void cp_sleep(int64_t nanoseconds) {
    struct timespec request = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&request, NULL);
}

static int hexadecimal(int character) {
    if (character >= '0' && character <= '9') return character - '0';
    if (character >= 'a' && character <= 'f') return character - 'a' + 10;
    if (character >= 'A' && character <= 'F') return character - 'A' + 10;
    return -1;
}

int cp_boot_identity(uint8_t identity[16]) {
    char text[64] = {0};
#if defined(__APPLE__)
    size_t length = sizeof text;
    if (sysctlbyname("kern.bootsessionuuid", text, &length, NULL, 0) != 0) return errno;
#else
    int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return errno;
    ssize_t length = read(descriptor, text, sizeof text - 1);
    int failure = length < 0 ? errno : 0;
    close(descriptor);
    if (failure) return failure;
#endif
    int digits = 0;
    memset(identity, 0, 16);
    for (const char *c = text; *c && digits < 32; c++) {
        int value = hexadecimal(*c);
        if (value < 0) continue;
        identity[digits / 2] = (uint8_t)(identity[digits / 2] << 4 | value);
        digits++;
    }
    return digits == 32 ? 0 : EINVAL;
}

int cp_process_look_up(pid_t pid, uint64_t *start) {
    *start = 0;
#if defined(__APPLE__)
    struct proc_bsdinfo info;
    if (proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof info) != (int)sizeof info)
        return kill(pid, 0) != 0 && errno == ESRCH ? ESRCH : EAGAIN;
    *start = info.pbi_start_tvsec * 1000000 + info.pbi_start_tvusec;
    return 0;
#else
    // proc_pid_stat(5): field 22 is the start time in clock ticks since boot. The name (field 2) may contain spaces and
    // parentheses, so counting starts after the last ')'.
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return kill(pid, 0) != 0 && errno == ESRCH ? ESRCH : EAGAIN;
    ssize_t length = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    if (length <= 0) return kill(pid, 0) != 0 && errno == ESRCH ? ESRCH : EAGAIN;
    text[length] = 0;
    char *cursor = strrchr(text, ')');
    if (!cursor) return EAGAIN;
    char state = cursor[1] ? cursor[2] : 0;
    if (state == 'Z' || state == 'X') return ESRCH;  // zombie: ended, but not yet reaped by its parent
    for (int field = 2; field < 22; field++) {
        cursor = strchr(cursor + 1, ' ');
        if (!cursor) return EAGAIN;
    }
    *start = strtoull(cursor + 1, NULL, 10) + 1;  // + 1: never 0, even for a process as old as the boot
    return 0;
#endif
}

uint64_t cp_process_start(pid_t pid) {
    uint64_t start;
    return cp_process_look_up(pid, &start) == 0 ? start : 0;
}

int cp_random(void *bytes, size_t length) {
#if defined(__APPLE__)
    arc4random_buf(bytes, length);
    return 0;
#else
    uint8_t *cursor = bytes;
    while (length > 0) {
        ssize_t got = getrandom(cursor, length, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        cursor += got;
        length -= (size_t)got;
    }
    return 0;
#endif
}
