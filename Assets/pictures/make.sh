#!/bin/sh
# Records a tour of the browser over the demo's store while the demo's load uses it, as tour.cast beside this file, and
# draws the pictures of the manual from it: for dark pages from tour.cast, and for light ones from a second recording of the
# same keys, because a recording holds the colors of its theme. Takes about two minutes. Needs script of util-linux,
# which gives the browser a terminal. Usage: make.sh PATH-OF-VELLUM
set -eu

vellum=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
script --version 2>/dev/null | grep -q util-linux || {
    echo "make.sh: needs script of util-linux" >&2
    exit 1
}
folder=$(mktemp -d "${TMPDIR:-/tmp}/vellum-tour-XXXXXX")
tours=
trap 'for tour in $tours; do kill "$tour" 2>/dev/null || true; done; wait; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# No user's settings, hints and former queries, and a terminal whose colors are known.
export VELLUM_ASSETS="$here/.." TERM=xterm-256color LC_ALL=C.UTF-8 COLORTERM=
export XDG_CONFIG_HOME="$folder/config" XDG_STATE_HOME="$folder/state"
unset VELLUM_STORE NO_COLOR
mkdir -p "$folder/config/vellum"
# With the usual 200 ms, and with the usual load, the recording would be several times as large.
echo 'refresh = "1s"' >"$folder/config/vellum/config.toml"

# The functions below are for one tour, with its folder in $own.

screen() { "$vellum" browse --replay "$own/cast" --print text 2>/dev/null; }

# await TEXT: waits until the screen shows it.
await() {
    tries=0
    until screen | grep -qF -- "$1"; do
        tries=$((tries + 1))
        if [ $tries -gt 150 ]; then
            { echo "make.sh: the screen doesn't come to show: $1"; screen; } >&2
            exit 1
        fi
        sleep 0.1
    done
}

# press KEYS AWAITED: presses the keys, which printf may have to spell, and waits until the screen shows what they lead to.
# After an escape a key needs a moment, or the two were one.
press() {
    printf "$1" >&4
    sleep 0.4
    await "$2"
}

# enter TEXT: types at a user's pace.
enter() {
    printf '%s\n' "$1" | fold -w 1 | while IFS= read -r key; do
        printf %s "$key" >&4
        sleep 0.05
    done
}

# picture NAME: marks the present screen as the picture of this name.
picture() { sed -n '$s/^\[\([0-9.]*\),.*/[\1,"m","'"$1"'"]/p' "$own/cast" >>"$own/pictures"; }

tour() {
    await 'Thumbnail'
    sleep 5

    # Entries in LRU order: the most recent, then the next to be evicted. If the entry under the cursor
    # is recorded again, the cursor follows it; then the last one is selected again, once the list, which is frozen after keys, is new.
    press '\r' 'to be evicted:'
    sleep 1.5
    for again in 1 2 3 4 5 6; do
        printf G >&4
        sleep 0.3
        if screen | grep -q '^▼ city:'; then break; fi
        press 'g' 'city:'
        sleep 4
    done
    await '▼ city:'
    picture entries
    sleep 3

    # A value.
    press 'g' 'city:'
    sleep 0.5
    press '\r' 'tree text hex'
    sleep 0.5
    picture value
    sleep 2
    press 't' '"geonameid":'
    sleep 2
    press 'h' 'to be evicted:'
    press 'h' 'file size'

    # Groups by the second part of the key: the first part is the same in all.
    press 'z' 'prefixes up to'
    sleep 1.5
    picture groups
    sleep 5
    press 'h' 'file size'

    # A query, its rows and its explanation.
    press 'Q' 'Type a query'
    sleep 1
    enter 'find timezone contains "Asia" | sort population desc | select name, population | limit 20'
    sleep 0.5
    press '\r' '20 rows'
    sleep 0.5
    picture query
    sleep 4
    press 'X' 'Query plan and timing'
    picture explanation
    sleep 6
    press '\033' 'X Explain'
    press 'h' 'file size'

    # A delete: its plan, and the undo. Nothing else uses this archive.
    press 'j' 'Country: Country'
    sleep 0.5
    press '\r' '171 entries'
    press '/' 'esc'
    enter ':S'
    press '\r' 'enter Open'
    press 'M' '14 marked'
    sleep 1
    press 'D' 'Delete 14 entries?'
    picture delete
    sleep 4
    press 'y' 'Deleted 14 entries'
    sleep 2
    press 'u' 'Undo this?'
    sleep 2
    press 'y' '14 of 171 entries'
    sleep 2
    press 'h' 'file size'

    # The log.
    press 'j' 'Journal:'
    press '\r' '● following'
    sleep 0.5
    picture log
    sleep 1
    press ' ' 'PAUSED'
    sleep 3
    press 'h' 'file size'
    press ' ' '● live'

    # The archives again, once their graphs have something to show, and graphs of minutes.
    press 'kk' 'City: City'
    tries=0
    until "$vellum" tail Journal --store "$own/demo" -n 500 | grep -q 'burst over'; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { echo "make.sh: the demo's load has no burst" >&2; exit 1; }
        sleep 0.2
    done
    sleep 2
    picture archives
    sleep 2
    press 'T' 'expiries'
    sleep 3
    # The first closes the graphs.
    press 'q' 'file size'
    printf q >&4
}

# record THEME: a tour, into cast below the folder of this name.
record() {
    own=$folder/$1
    mkdir -p "$own" "$folder/state/$1/vellum"
    export XDG_STATE_HOME="$folder/state/$1"
    echo hidden >"$XDG_STATE_HOME/vellum/hints"
    mkfifo "$own/keys"
    exec 4<>"$own/keys"
    script -qec "stty rows 30 cols 110; exec '$vellum' demo --store '$own/demo' --rate 250 --theme $1 --record '$own/cast'" \
        /dev/null <"$own/keys" >"$own/output" 2>&1 4>&- &
    terminal=$!
    trap 'kill $terminal 2>/dev/null || true' EXIT
    trap 'exit 143' INT TERM
    tries=0
    until [ -s "$own/cast" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { cat "$own/output" >&2; exit 1; }
        sleep 0.1
    done
    tour
    wait $terminal
    trap - EXIT
}

for theme in dark light; do
    record "$theme" &
    tours="$tours $!"
done
for tour in $tours; do wait "$tour"; done
tours=

# The pictures' moments are in the recording too, as marks that players can go to. Colors that are set again although they are
# in use are left out of it, a fifth of its length; it shows the same.
{
    sed '1s/"title":"[^"]*"/"title":"A tour of the browser"/;1q' "$folder/dark/cast"
    { sed 1d "$folder/dark/cast"; cat "$folder/dark/pictures"; } | LC_ALL=C sort -s -t , -k 1.2,1n | LC_ALL=C awk '
        /^\[[0-9.]*,"o",/ {
            count = split($0, part, "\\\\u001b\\[")
            line = part[1]
            style = ""
            for (i = 2; i <= count; i++) {
                text = part[i]
                if (match(text, /^[0-9;]*m/)) {
                    if (substr(text, 1, RLENGTH) == style) {
                        line = line substr(text, RLENGTH + 1)
                        continue
                    }
                    style = substr(text, 1, RLENGTH)
                }
                line = line "\\u001b[" text
            }
            print line
            next
        }
        { print }'
} >"$here/tour.cast"

# draw THEME: the pictures of this theme.
# Neighbours of one color become one rectangle, which makes the pictures smaller.
draw() {
    tr -d '[]"' <"$folder/$1/pictures" | while IFS=, read -r time _ name; do
        "$vellum" browse --replay "$folder/$1/cast" --at "$time" --theme "$1" --print svg | awk '
            function flush() {
                if (rest != "") print "<rect x=\"" x "\" y=\"" y "\" width=\"" width "\"" rest
                rest = ""
            }
            /^<rect x="/ {
                split($0, part, "\"")
                behind = substr($0, index($0, " height="))
                gap = part[2] - x - width
                if (behind == rest && part[4] == y && gap < 0.15 && gap > -0.15) {
                    width = part[2] + part[6] - x
                    next
                }
                flush()
                x = part[2]; y = part[4]; width = part[6]; rest = behind
                next
            }
            { flush(); print }
            END { flush() }' >"$here/$name-$1.svg"
    done
}
draw dark
draw light
