// A thin layer over ncursesw and the signal side of a terminal: what Swift can't reach (macros, variadic
// functions, globals, wide characters) or must not do itself (signal handlers). Nothing of <curses.h> shows.
//
// ncurses gets a file of ours as its output and no terminal: it composes the bytes of a screen, and the caller
// sends them. Terminal modes are the caller's too, so that a signal handler can restore them.
#ifndef CNCURSES_H
#define CNCURSES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

// MARK: Screen. All of these are for one thread at a time.

enum {
    CNC_BOLD = 1,
    CNC_DIM = 2,
    CNC_ITALIC = 4,
    CNC_UNDERLINE = 8,
    CNC_REVERSE = 16,
    CNC_STRIKETHROUGH = 32,
};

/// Sets the character type locale from the environment; true when its encoding is UTF-8.
bool cnc_set_locale(void);

/// Opens a screen for a terminal type; false when the type is unknown or can't address the cursor. Sets LINES and COLUMNS of
/// the environment for the moment, so other threads must not read it.
bool cnc_open(const char *type, int rows, int columns);
void cnc_close(void);

/// Colors that the terminal type has (0 for none); -1 stands for the default color in pairs afterwards.
int cnc_start_colors(void);
/// Whether a color's number is its 24-bit value.
bool cnc_has_direct_colors(void);
/// The number of a pair of colors, made when it doesn't exist; 0, the default pair, when none can be made.
int cnc_pair(int foreground, int background);

/// A capability of the terminal type by its terminfo name; NULL and -1 when absent.
const char *cnc_capability(const char *name);
int cnc_number_capability(const char *name);

/// Columns of one character in the locale: 0, 1, 2, or -1 when it can't be shown.
int cnc_width(uint32_t scalar);
/// Puts one spacing character with the combining ones after it.
void cnc_put(int row, int column, const uint32_t *scalars, int count, int attributes, int pair);
/// A row below 0 hides the cursor.
void cnc_set_cursor(int row, int column);
void cnc_resize(int rows, int columns);
/// The next refresh draws everything anew.
void cnc_invalidate(void);
/// Composes what changed since the last refresh.
void cnc_refresh(void);
/// Composes what leaves the screen; the next refresh enters it again.
void cnc_leave(void);
/// The composed bytes not yet taken, and takes them. They stay valid until the next call of this function.
const uint8_t *cnc_take_output(size_t *count);

// MARK: Terminal

/// False when the descriptor has no window size.
bool cnc_window_size(int descriptor, int *rows, int *columns);
/// Writes everything, waiting as long as it takes; false when the terminal is gone.
bool cnc_write(int descriptor, const uint8_t *bytes, size_t count);

// MARK: Restoring the terminal. The guarded state is one for the process.

/// From now on, leaving the process by exit() or by a signal writes these bytes (at most 512) and sets these
/// modes.
void cnc_guard_arm(int descriptor, const struct termios *modes, const uint8_t *bytes, size_t count);
void cnc_guard_disarm(void);

// MARK: Signals

/// What happened since the last call.
enum {
    CNC_RESIZED = 1,
    CNC_CONTINUED = 2,
    CNC_STOP_REQUESTED = 4,
};

/// Installs handlers: those that end the process restore the terminal first and then do what they did before;
/// the others are remembered for cnc_take_signals and write a byte to `wake_descriptor`.
void cnc_signals_install(int wake_descriptor);
/// Puts the handlers back that were there before.
void cnc_signals_remove(void);
int cnc_take_signals(void);
/// Stops the whole process group, as Control-Z does in a shell's program, until it is continued.
void cnc_stop_group(void);
/// While a child program has the terminal, its interrupts must not end this process, and its stop must stop
/// this process too.
void cnc_signals_yield_to_child(bool yields);

#endif
