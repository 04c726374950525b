#define _GNU_SOURCE 1

#include "CNcurses.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Everything that handlers access is below. They call only fcntl, write, tcsetattr, getpid, sigaction and raise,
// which POSIX guarantees to be async-signal-safe.

static struct {
    volatile sig_atomic_t armed;
    int descriptor;
    struct termios modes;
    uint8_t bytes[512];
    size_t count;
} guard;

static volatile sig_atomic_t wake_descriptor = -1;
static volatile sig_atomic_t resized, continued, stop_requested;

static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE};
static const int noticed[] = {SIGWINCH, SIGCONT, SIGTSTP};
enum { ENDING = sizeof ending / sizeof *ending, NOTICED = sizeof noticed / sizeof *noticed };
static struct sigaction ending_before[ENDING], noticed_before[NOTICED];
static volatile sig_atomic_t installed;

enum { CNC_MOST_ROWS = 1000, CNC_MOST_COLUMNS = 4000 };

bool cnc_window_size(int descriptor, int *rows, int *columns) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return false;
    // Curses counts in 16 bits, and a frame takes memory for each cell. The rest of a larger terminal stays blank.
    *rows = size.ws_row < CNC_MOST_ROWS ? size.ws_row : CNC_MOST_ROWS;
    *columns = size.ws_col < CNC_MOST_COLUMNS ? size.ws_col : CNC_MOST_COLUMNS;
    return true;
}

bool cnc_write(int descriptor, const uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written < 0) {
            if (errno == EINTR) continue;
            // EAGAIN: another process has made the terminal's file non-blocking.
            if (errno != EAGAIN) return false;
            struct pollfd waiting = {.fd = descriptor, .events = POLLOUT};
            poll(&waiting, 1, 1000);
            if (waiting.revents & (POLLERR | POLLHUP)) return false;
            continue;
        }
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

static void restore(void) {
    if (!guard.armed) return;
    guard.armed = 0;
    const uint8_t *bytes = guard.bytes;
    size_t count = guard.count;
    // A terminal that accepts no output must not keep the process from ending, so the write doesn't block.
    int flags = fcntl(guard.descriptor, F_GETFL);
    fcntl(guard.descriptor, F_SETFL, flags | O_NONBLOCK);
    while (count > 0) {
        ssize_t written = write(guard.descriptor, bytes, count);
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        } else if (errno != EINTR) {
            break;
        }
    }
    // Restore the flags, because the shell shares the open file.
    fcntl(guard.descriptor, F_SETFL, flags);
    tcsetattr(guard.descriptor, TCSANOW, &guard.modes);
}

void cnc_guard_arm(int descriptor, const struct termios *modes, const uint8_t *bytes, size_t count) {
    static bool registered;
    guard.armed = 0;
    guard.descriptor = descriptor;
    guard.modes = *modes;
    guard.count = count < sizeof guard.bytes ? count : sizeof guard.bytes;
    memcpy(guard.bytes, bytes, guard.count);
    if (!registered) registered = atexit(restore) == 0;
    guard.armed = 1;
}

void cnc_guard_restore(void) { restore(); }

void cnc_guard_disarm(void) { guard.armed = 0; }

static void wake(void) {
    int saved = errno;
    uint8_t byte = 's';
    // If the pipe is full, its bytes will wake the reader anyway.
    ssize_t ignored = write(wake_descriptor, &byte, 1);
    (void)ignored;
    errno = saved;
}

static void on_noticed(int number) {
    if (number == SIGWINCH) resized = 1;
    if (number == SIGCONT) continued = 1;
    if (number == SIGTSTP) stop_requested = 1;
    wake();
}

// Whether another process sent the signal. Then the program continues when the handler returns. A real fault, in
// contrast, recurs on return, and abort() raises its signal again.
static bool is_sent(const siginfo_t *info) {
    return (info->si_code == SI_USER || info->si_code == SI_QUEUE) && info->si_pid != getpid();
}

static bool is_crash(int number) {
    return number != SIGHUP && number != SIGINT && number != SIGTERM;
}

static void on_ending(int number, siginfo_t *info, void *context) {
    (void)context;
    restore();
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    sigemptyset(&standard.sa_mask);
    standard.sa_handler = SIG_DFL;
    for (int i = 0; i < ENDING; i++) {
        if (ending[i] != number) continue;
        // The runtime's crash handler prints a backtrace and returns, because the fault will recur. A signal that
        // was sent doesn't recur, and the process would continue with a terminal that it has already released.
        sigaction(number, is_crash(number) && is_sent(info) ? &standard : &ending_before[i], NULL);
    }
    // The signal is blocked until this handler returns; then the previous handler gets it.
    raise(number);
}

void cnc_signals_install(int descriptor) {
    if (installed) return;
    wake_descriptor = descriptor;
    resized = continued = stop_requested = 0;
    // The handler for a stack overflow needs its own stack.
    static uint8_t stack[1 << 16];
    stack_t current;
    if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE)) {
        stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
        sigaltstack(&own, NULL);
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigfillset(&action.sa_mask);
    action.sa_sigaction = on_ending;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    for (int i = 0; i < ENDING; i++) {
        sigaction(ending[i], NULL, &ending_before[i]);
        // A signal that is ignored, as by nohup, stays ignored.
        if (ending_before[i].sa_handler != SIG_IGN) sigaction(ending[i], &action, NULL);
    }
    action.sa_handler = on_noticed;
    action.sa_flags = SA_RESTART;
    for (int i = 0; i < NOTICED; i++) sigaction(noticed[i], &action, &noticed_before[i]);
    installed = 1;
}

void cnc_signals_remove(void) {
    if (!installed) return;
    installed = 0;
    for (int i = 0; i < ENDING; i++) sigaction(ending[i], &ending_before[i], NULL);
    for (int i = 0; i < NOTICED; i++) sigaction(noticed[i], &noticed_before[i], NULL);
    wake_descriptor = -1;
}

int cnc_take_signals(void) {
    int taken = 0;
    // Clear each before acting on it, so that a signal that arrives in between is seen next time.
    if (resized) { resized = 0; taken |= CNC_RESIZED; }
    if (continued) { continued = 0; taken |= CNC_CONTINUED; }
    if (stop_requested) { stop_requested = 0; taken |= CNC_STOP_REQUESTED; }
    return taken;
}

void cnc_stop_group(void) {
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    // Stop the other processes first, and then this thread: a signal to the calling thread takes effect before the
    // call returns, one to the group possibly later.
    action.sa_handler = SIG_IGN;
    sigaction(SIGTSTP, &action, &before);
    kill(0, SIGTSTP);
    action.sa_handler = SIG_DFL;
    sigaction(SIGTSTP, &action, NULL);
    sigset_t stop, blocked;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &stop, &blocked);
    pthread_kill(pthread_self(), SIGTSTP);
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
    sigaction(SIGTSTP, &before, NULL);
    continued = stop_requested = 0;
}

void cnc_signals_yield_to_child(bool yields) {
    static struct sigaction interrupt, quit, stop;
    if (!yields) {
        sigaction(SIGINT, &interrupt, NULL);
        sigaction(SIGQUIT, &quit, NULL);
        sigaction(SIGTSTP, &stop, NULL);
        return;
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN;
    sigaction(SIGINT, &action, &interrupt);
    sigaction(SIGQUIT, &action, &quit);
    action.sa_handler = SIG_DFL;
    sigaction(SIGTSTP, &action, &stop);
}
