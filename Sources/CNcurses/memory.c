#define _GNU_SOURCE 1

#include "CNcurses.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void (*cleanup_before_end)(void);
static volatile int status_when_exhausted = -1;

void cnc_end_when_exhausted(int status, void (*cleanup)(void)) {
    cleanup_before_end = cleanup;
    status_when_exhausted = status;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

// The C library's own functions below their second names.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static char *append(char *place, const char *text) {
    size_t length = strlen(text);
    memcpy(place, text, length);
    return place + length;
}

static char *append_number(char *place, uint64_t number) {
    char digits[20];
    int count = 0;
    do digits[count++] = (char)('0' + number % 10); while (number /= 10);
    while (count > 0) *place++ = digits[--count];
    return place;
}

// Allocates nothing. Skips the program's exit handlers: they may wait for a lock of this thread.
static void *exhausted(size_t bytes) {
    if (status_when_exhausted < 0) return NULL;
    if (cleanup_before_end) cleanup_before_end();
    cnc_guard_restore();
    char line[256];
    char *end = append(line, "vellum: out of memory: ");
    end = append_number(end, bytes);
    end = append(end, " bytes more were needed");
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        end = append(end, ", and the process may have ");
        end = append_number(end, limit.rlim_cur);
        end = append(end, " in all; raise the limit (ulimit -v), or read less at once\n");
    } else {
        end = append(end, "; read less at once\n");
    }
    ssize_t ignored = write(STDERR_FILENO, line, (size_t)(end - line));
    (void)ignored;
    _exit(status_when_exhausted);
}

void *malloc(size_t bytes) {
    void *memory = __libc_malloc(bytes);
    return memory ? memory : exhausted(bytes);
}

void *calloc(size_t count, size_t bytes) {
    void *memory = __libc_calloc(count, bytes);
    return memory ? memory : exhausted(count * bytes);
}

void *realloc(void *old, size_t bytes) {
    void *memory = __libc_realloc(old, bytes);
    return memory || bytes == 0 ? memory : exhausted(bytes);
}

void *memalign(size_t alignment, size_t bytes) {
    void *memory = __libc_memalign(alignment, bytes);
    return memory ? memory : exhausted(bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
    *memory = memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}

#endif
