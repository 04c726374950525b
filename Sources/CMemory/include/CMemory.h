// Ends the program with one sentence where memory is exhausted. Swift stops a program that gets none with a trap, wherever
// that happens, and can't be told otherwise. For programs only: it replaces the C library's functions for memory.
#ifndef CMEMORY_H
#define CMEMORY_H

#include <stdbool.h>

/// From now on the process ends with this status when it gets no memory, after one line on standard error. `restore`, which
/// may allocate nothing, is called before. Without effect where the C library is another one than glibc, and below sanitizers.
void cm_end_when_exhausted(int status, void (*restore)(void));

#endif
