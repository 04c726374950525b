#!/bin/sh
# Checks and installs what the build needs from the system: need.sh [--optional] WHAT…
#
# WHAT is one of: swift curses tmux redis-server openssl lmdb sqlite. Each run probes all needs, which takes some 50 ms. Missing
# packages are installed with apt-get; without it they are named, and the script fails. With --optional it only names them.
set -eu

optional=no
if [ "${1:-}" = --optional ]; then
    optional=yes
    shift
fi

say() { printf 'vellum: %s\n' "$*" >&2; }

# Ends the script with an error, or with a note if the need is optional.
give_up() {
    say "$*"
    [ "$optional" = yes ] && exit 0
    exit 1
}

# Prints the C compiler that the Swift build will use: the caller's choice, the toolchain's own,
# then the system's.
c_compiler() {
    if [ -n "${CC:-}" ] && command -v "${CC%% *}" >/dev/null 2>&1; then
        echo "$CC"
        return
    fi
    swift=$(command -v swift || true)
    swift=$(readlink -f "$swift" 2>/dev/null || echo "$swift")
    for candidate in "$(dirname "$swift")/clang" clang cc gcc; do
        if command -v "$candidate" >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
    echo cc
}

# compiles LIBRARY reads a C program from standard input and succeeds if it compiles and links with
# the library. Headers without the library, or a curses without wide characters, must not pass.
compiles() {
    # CC may have options, so it is split into words.
    # shellcheck disable=SC2046
    $(c_compiler) -x c - "-l$1" -o "$scratch/probe" 2>/dev/null
}

is_there() {
    case $1 in
    swift | tmux | redis-server | openssl) command -v "$1" >/dev/null 2>&1 ;;
    curses)
        # macOS has the wide functions in plain ncurses; elsewhere that library is the narrow one.
        case $(uname) in
        Darwin) library=ncurses ;;
        *) library=ncursesw ;;
        esac
        compiles "$library" <<'PROGRAM'
#define _XOPEN_SOURCE_EXTENDED 1
#include <wchar.h>
#include <ncurses.h>
int main(void) { cchar_t cell; return setcchar(&cell, L"x", A_NORMAL, 0, 0); }
PROGRAM
        ;;
    lmdb)
        compiles lmdb <<'PROGRAM'
#include <lmdb.h>
int main(void) { return mdb_version(0, 0, 0) == 0; }
PROGRAM
        ;;
    sqlite)
        compiles sqlite3 <<'PROGRAM'
#include <sqlite3.h>
int main(void) { return sqlite3_libversion_number() == 0; }
PROGRAM
        ;;
    *)
        say "need.sh: unknown need '$1'"
        exit 2
        ;;
    esac
}

# package MANAGER WHAT prints the name of the package with WHAT.
package() {
    case $1:$2 in
    *:tmux) echo tmux ;;
    *:openssl) echo openssl ;;
    apt-get:redis-server) echo redis-server ;;
    *:redis-server) echo redis ;;
    apt-get:curses) echo libncurses-dev ;;
    dnf:curses) echo ncurses-devel ;;
    apk:curses) echo ncurses-dev ;;
    *:curses) echo ncurses ;;
    apt-get:lmdb) echo liblmdb-dev ;;
    dnf:lmdb) echo lmdb-devel ;;
    apk:lmdb) echo lmdb-dev ;;
    *:lmdb) echo lmdb ;;
    apt-get:sqlite) echo libsqlite3-dev ;;
    dnf:sqlite) echo sqlite-devel ;;
    apk:sqlite) echo sqlite-dev ;;
    *:sqlite) echo sqlite ;;
    esac
}

install_command() {
    case $1 in
    apt-get) echo "apt-get install -y --no-install-recommends" ;;
    dnf) echo "dnf install" ;;
    apk) echo "apk add" ;;
    pacman) echo "pacman -S" ;;
    brew) echo "brew install" ;;
    esac
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

missing=
for need in "$@"; do
    is_there "$need" || missing="$missing $need"
done
[ -n "$missing" ] || exit 0

case " $missing " in
*" swift "*) give_up "Swift 6.2 or later is needed and no 'swift' is in the PATH: see https://www.swift.org/install" ;;
esac

manager=
for candidate in apt-get dnf apk pacman brew; do
    if command -v "$candidate" >/dev/null 2>&1; then
        manager=$candidate
        break
    fi
done
if [ -z "$manager" ]; then
    hint=
    case "$missing " in
    *" curses "*) hint=" (curses: ncurses with wide characters and its headers; macOS has it with 'xcode-select --install')" ;;
    esac
    give_up "missing:$missing$hint, and no package manager that is known here"
fi

packages=
for need in $missing; do
    packages="$packages $(package "$manager" "$need")"
done
command_line="$(install_command "$manager")$packages"
if [ "$manager" != apt-get ]; then
    hint=
    [ "$manager" = brew ] && hint=" (on macOS 'xcode-select --install' installs curses)"
    give_up "missing:$missing. Install with: $command_line$hint"
fi

become_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || give_up "missing:$missing. As root, run: $command_line"
    become_root=sudo
    # Without a terminal, a prompt for the password would wait forever.
    [ -t 0 ] || become_root="sudo -n"
fi

say "installing$packages"
# Old package lists may suffice, so a failed update isn't fatal. sudo drops the environment, so `env` sets the variable.
$become_root env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2 || say "apt-get update failed; using the present lists"
# shellcheck disable=SC2086
$become_root env DEBIAN_FRONTEND=noninteractive $command_line >&2 || give_up "could not install$packages. As root, run: $command_line"

for need in $missing; do
    is_there "$need" || give_up "'$need' still isn't usable after installing$packages"
done
