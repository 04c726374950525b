// C shim over ncursesw.
#ifndef CNCURSES_H
#define CNCURSES_H
#endif
