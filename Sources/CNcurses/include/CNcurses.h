// A thin layer over ncursesw and a terminal's signals: features that Swift can't use (macros, variadic functions, globals, wide
// characters), and signal handlers. It exposes nothing of <curses.h>.
//
// The output of ncurses is written to a temporary file, not to the terminal: it only composes a screen's bytes, and the caller
// sends them. The caller also sets the terminal's modes, so that a signal handler can restore them.
#ifndef CNCURSES_H
#define CNCURSES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

/// The commit of the build, from VELLUM_COMMIT; empty without one. Only C targets accept a text from the build, and the engine's C
/// target would be compiled again for each commit.
const char *cnc_commit(void);

// MARK: Screen. Not thread-safe.

enum {
    CNC_BOLD = 1,
    CNC_DIM = 2,
    CNC_ITALIC = 4,
    CNC_UNDERLINE = 8,
    CNC_REVERSE = 16,
    CNC_STRIKETHROUGH = 32,
};

/// Sets LC_CTYPE from the environment. Returns true if its encoding is UTF-8.
bool cnc_set_locale(void);

/// Opens a screen for a terminal type. Returns false if the type is unknown or can't address the cursor.
/// Sets LINES and COLUMNS in the environment while it runs, so no other thread may read the environment then.
bool cnc_open(const char *type, int rows, int columns);
void cnc_close(void);

/// Turns on colors and returns their number (0 for none). In pairs -1 then means the default color.
int cnc_start_colors(void);
/// Whether color numbers are 24-bit values.
bool cnc_has_direct_colors(void);
/// The number of a color pair, created if necessary; 0, the default pair, if it can't be.
int cnc_pair(int foreground, int background);

/// A capability of the terminal type by its terminfo name; NULL or -1 if absent.
const char *cnc_capability(const char *name);
int cnc_number_capability(const char *name);

/// The width of a character in the locale: 0, 1 or 2 columns, or -1 if it can't be shown.
int cnc_width(uint32_t scalar);
/// Puts a spacing character with its combining characters.
void cnc_put(int row, int column, const uint32_t *scalars, int count, int attributes, int pair);
/// A row below 0 hides the cursor.
void cnc_set_cursor(int row, int column);
void cnc_resize(int rows, int columns);
/// Makes the next refresh redraw everything.
void cnc_invalidate(void);
/// Composes the changes since the last refresh.
void cnc_refresh(void);
/// Composes the bytes that leave the screen; the next refresh enters it again.
void cnc_leave(void);
/// Takes the composed bytes. They stay valid until the next call of this function.
const uint8_t *cnc_take_output(size_t *count);

// MARK: Terminal

/// Returns false if the descriptor has no window size.
bool cnc_window_size(int descriptor, int *rows, int *columns);
/// Writes everything and blocks as long as necessary. Returns false if the terminal has closed.
bool cnc_write(int descriptor, const uint8_t *bytes, size_t count);

// MARK: Restoring the terminal. The state is global for the process.

/// From now on, if the process ends by exit() or by a signal, these bytes (at most 512) are written and these modes
/// set.
void cnc_guard_arm(int descriptor, const struct termios *modes, const uint8_t *bytes, size_t count);
void cnc_guard_disarm(void);
/// Restores the terminal now, unless it is restored already. Safe in a signal handler.
void cnc_guard_restore(void);

// MARK: Exhausted memory

/// From now on the process ends with this status when an allocation fails: Swift would stop it with a trap. `cleanup`, which may
/// not allocate, is called first; then the terminal is restored and one line is written to standard error. Replaces the C
/// library's `malloc`, so only programs may link it. Has no effect without glibc and under sanitizers.
void cnc_end_when_exhausted(int status, void (*cleanup)(void));

// MARK: Signals

/// Signals since the last call of cnc_take_signals.
enum {
    CNC_RESIZED = 1,
    CNC_CONTINUED = 2,
    CNC_STOP_REQUESTED = 4,
};

/// Installs signal handlers. For signals that end the process they restore the terminal and then call the previous handler. Others
/// are recorded for cnc_take_signals and write a byte to `wake_descriptor`.
void cnc_signals_install(int wake_descriptor);
/// Restores the previous handlers.
void cnc_signals_remove(void);
int cnc_take_signals(void);
/// Stops the whole process group, as Control-Z does, until it is continued.
void cnc_stop_group(void);
/// While a child program has the terminal, an interrupt must not end this process, but a stop must stop it too.
void cnc_signals_yield_to_child(bool yields);

#endif
