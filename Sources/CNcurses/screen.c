#define _XOPEN_SOURCE_EXTENDED 1
#define _GNU_SOURCE 1
#define NCURSES_WIDECHAR 1

#include "CNcurses.h"

#include <curses.h>

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

static SCREEN *screen;
static FILE *output;
static FILE *input;
static uint8_t *taken;

bool cnc_set_locale(void) {
    setlocale(LC_CTYPE, "");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static FILE *open_memory_file(void) {
#ifdef __linux__
    int descriptor = memfd_create("terminal output", MFD_CLOEXEC);
    return descriptor < 0 ? NULL : fdopen(descriptor, "w+");
#else
    return tmpfile();
#endif
}

// newterm() sends a scrolling region with the height of the screen. Its output isn't a terminal that reports a size, and the
// entry's 24 lines would leave the rest of a taller screen outside the region, also for the shell: the size is passed.
static SCREEN *new_screen(const char *type, int rows, int columns) {
    static const char *const names[] = {"LINES", "COLUMNS"};
    const int numbers[] = {rows, columns};
    char *before[2];
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(names[i]);
        before[i] = value ? strdup(value) : NULL;
        char text[12];
        snprintf(text, sizeof text, "%d", numbers[i]);
        setenv(names[i], text, 1);
    }
    SCREEN *made = newterm(type, output, input);
    for (int i = 0; i < 2; i++) {
        if (before[i]) {
            setenv(names[i], before[i], 1);
        } else {
            unsetenv(names[i]);
        }
        free(before[i]);
    }
    return made;
}

bool cnc_open(const char *type, int rows, int columns) {
    output = open_memory_file();
    input = fopen("/dev/null", "re");
    if (output && input) screen = new_screen(type, rows, columns);
    // newterm accepts types such as "dumb", which can't position their cursor.
    if (!screen || !cnc_capability("cup")) {
        cnc_close();
        return false;
    }
    // Otherwise ncurses would poll its input and stop drawing when there is some.
    typeahead(-1);
    cnc_resize(rows, columns);
    keypad(stdscr, TRUE);
    leaveok(stdscr, FALSE);
    scrollok(stdscr, FALSE);
    return true;
}

void cnc_close(void) {
    if (screen) delscreen(screen);
    if (output) fclose(output);
    if (input) fclose(input);
    free(taken);
    screen = NULL;
    output = NULL;
    input = NULL;
    taken = NULL;
}

int cnc_start_colors(void) {
    if (!has_colors() || start_color() == ERR) return 0;
    if (use_default_colors() == ERR) return 0;
    return COLORS;
}

bool cnc_has_direct_colors(void) {
    // A Boolean, a number of bits or a string of bits for each part, by user_caps(5).
    const char *text = tigetstr("RGB");
    return tigetflag("RGB") == 1 || tigetnum("RGB") > 0 || (text && text != (char *)-1);
}

int cnc_pair(int foreground, int background) {
    int pair = alloc_pair(foreground, background);
    return pair < 0 ? 0 : pair;
}

const char *cnc_capability(const char *name) {
    const char *text = tigetstr(name);
    return text == (char *)-1 ? NULL : text;
}

int cnc_number_capability(const char *name) {
    int number = tigetnum(name);
    return number < 0 ? -1 : number;
}

int cnc_width(uint32_t scalar) { return wcwidth((wchar_t)scalar); }

void cnc_put(int row, int column, const uint32_t *scalars, int count, int attributes, int pair) {
    wchar_t text[CCHARW_MAX + 1] = {0};
    for (int i = 0; i < count && i < CCHARW_MAX; i++) text[i] = (wchar_t)scalars[i];
    attr_t curses = A_NORMAL;
    if (attributes & CNC_BOLD) curses |= A_BOLD;
    if (attributes & CNC_DIM) curses |= A_DIM;
    if (attributes & CNC_UNDERLINE) curses |= A_UNDERLINE;
    if (attributes & CNC_REVERSE) curses |= A_REVERSE;
#ifdef A_ITALIC
    if (attributes & CNC_ITALIC) curses |= A_ITALIC;
#endif
    cchar_t cell;
    // Pair numbers beyond a short are passed in the last argument.
    if (setcchar(&cell, text, curses, (short)(pair > 32767 ? 0 : pair), &pair) == OK) {
        mvadd_wch(row, column, &cell);
    }
}

void cnc_set_cursor(int row, int column) {
    curs_set(row >= 0);
    if (row >= 0) move(row, column);
}

void cnc_resize(int rows, int columns) { resize_term(rows, columns); }

void cnc_invalidate(void) { clearok(curscr, TRUE); }

void cnc_refresh(void) { refresh(); }

void cnc_leave(void) { endwin(); }

const uint8_t *cnc_take_output(size_t *count) {
    *count = 0;
    fflush(output);
    int descriptor = fileno(output);
    off_t length = lseek(descriptor, 0, SEEK_CUR);
    if (length <= 0) return NULL;
    uint8_t *bytes = realloc(taken, (size_t)length);
    if (!bytes) return NULL;
    taken = bytes;
    ssize_t got = pread(descriptor, taken, (size_t)length, 0);
    lseek(descriptor, 0, SEEK_SET);
    if (ftruncate(descriptor, 0) != 0 || got < 0) return NULL;
    *count = (size_t)got;
    return taken;
}
