#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)

// time_namespaces(7): a line "boottime SECONDS NANOSECONDS", relative to the machine's own clock. It describes the
// namespace of children, which is the process's own unless it has just requested another one.
static int64_t boot_shift, boot_shift_is_known;

static int read_text(const char *path, char *text, size_t capacity) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return errno;
    ssize_t length = read(descriptor, text, capacity - 1);
    int failure = length < 0 ? errno : 0;
    close(descriptor);
    text[length < 0 ? 0 : length] = 0;
    return failure;
}

// Runs before main, while descriptors are free. If it fails, it is repeated at each use.
__attribute__((constructor)) void cp_find_boot_shift(void) {
    char text[256];
    int failure = read_text("/proc/self/timens_offsets", text, sizeof text);
    int64_t shift = 0;
    if (failure == 0) {
        const char *line = strstr(text, "boottime");
        long long seconds, nanoseconds;
        if (line && sscanf(line + 8, "%lld %lld", &seconds, &nanoseconds) == 2)
            shift = seconds * 1000000 + nanoseconds / 1000;
    } else if (failure != ENOENT) {
        return;
    }
    __atomic_store_n(&boot_shift, shift, __ATOMIC_RELAXED);
    __atomic_store_n(&boot_shift_is_known, 1, __ATOMIC_RELEASE);
}

int64_t cp_boot_time_shift(void) {
    if (!__atomic_load_n(&boot_shift_is_known, __ATOMIC_ACQUIRE)) cp_find_boot_shift();
    return __atomic_load_n(&boot_shift, __ATOMIC_RELAXED);
}

static uint32_t number_of(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (uint32_t)status.st_ino : 0;
}

int cp_namespaces(uint32_t *processes, uint32_t *times) {
    // A /proc of another namespace shows this process under another number.
    char own[32], text[32];
    ssize_t length = readlink("/proc/self", text, sizeof text - 1);
    if (length < 0) return errno;
    text[length] = 0;
    snprintf(own, sizeof own, "%d", (int)getpid());
    if (strcmp(own, text) != 0) return ENOENT;
    *processes = number_of("/proc/self/ns/pid");
    if (*processes == 0) return errno ? errno : ENOENT;
    *times = number_of("/proc/self/ns/time");  // 0: a kernel without them
    return 0;
}

static int set_byte_lock(int descriptor, off_t offset, short kind) {
    struct flock request;
    memset(&request, 0, sizeof request);
    request.l_type = kind;
    request.l_whence = SEEK_SET;
    request.l_start = offset;
    request.l_len = 1;
    return fcntl(descriptor, F_OFD_SETLK, &request) == 0 ? 0 : errno == EACCES ? EAGAIN : errno;
}

int cp_lock_byte(int descriptor, off_t offset, bool locked) {
    return set_byte_lock(descriptor, offset, locked ? F_WRLCK : F_UNLCK);
}

int cp_share_byte(int descriptor, off_t offset) { return set_byte_lock(descriptor, offset, F_RDLCK); }

int cp_byte_lock_is_held(int descriptor, off_t offset) {
    struct flock request;
    memset(&request, 0, sizeof request);
    request.l_type = F_WRLCK;
    request.l_whence = SEEK_SET;
    request.l_start = offset;
    request.l_len = 1;
    if (fcntl(descriptor, F_OFD_GETLK, &request) != 0) return errno;
    return request.l_type == F_UNLCK ? 0 : EAGAIN;
}

#else

// There are no namespaces: a process number means the same to all.
void cp_find_boot_shift(void) {}
int64_t cp_boot_time_shift(void) { return 0; }
int cp_namespaces(uint32_t *processes, uint32_t *times) {
    *processes = 1;
    *times = 1;
    return 0;
}
int cp_lock_byte(int descriptor, off_t offset, bool locked) {
    (void)descriptor; (void)offset; (void)locked;
    return 0;
}
int cp_share_byte(int descriptor, off_t offset) {
    (void)descriptor; (void)offset;
    return 0;
}
int cp_byte_lock_is_held(int descriptor, off_t offset) {
    (void)descriptor; (void)offset;
    return ENOTSUP;
}

#endif
