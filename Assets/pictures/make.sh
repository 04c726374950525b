#!/bin/sh
# Draws the pictures of README.md beside this file: screens of the browser on a store that two workloads
# use meanwhile. Takes about a minute. Usage: make.sh PATH-OF-VELLUM
set -eu

vellum=$1
here=$(cd "$(dirname "$0")" && pwd)
cities=$here/../demo/cities.ndjson
folder=$(mktemp -d "${TMPDIR:-/tmp}/vellum-pictures-XXXXXX")
store=$folder/cities
mkfifo "$folder/leash"
exec 3<>"$folder/leash"
# The workloads end when nobody can write to their standard input any more.
trap 'exec 3>&-; wait; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# browse ROWS KEYS: the screen after these keys.
browse() {
    "$vellum" browse --store "$store" --size "110x$1" --keys "$2" --print svg
}

# workload RATE SEED: uses the archive City until it is ended.
workload() {
    exec "$vellum" workload --store "$store" --rate "$1" --seed "$2" -- "$cities" <"$folder/leash" 3>&-
}

"$vellum" demo --store "$store" --no-browse --seconds 0 >/dev/null 2>&1
"$vellum" import --store "$store" Names "$cities" --key geonameid --value name 2>/dev/null
"$vellum" import --store "$store" Places "$cities" --key name --disk 2MB 2>/dev/null
workload 1200 1 &
# Another comes later, so that the graphs have something to show.
( sleep 12; workload 700 2 ) 3>&- &

# A screen without a terminal reads the store when a key asks for it: the points of the graphs come from R.
repeated() { awk -v key="$1" -v count="$2" 'BEGIN { while (count-- > 0) printf "%s", key }'; }
browse 32 "<enter>$(repeated R 30000)<left>" >"$here/archives.svg"
browse 32 "<enter>G$(repeated k 44)" >"$here/entries.svg"
browse 22 "<down><down><down><down><down><enter>/Kyoto<enter><enter>E" >"$here/value.svg"
question='find timezone contains "Asia" | sort population desc'
browse 18 "<down><down><down><down><down><enter>Q$question | select name, population, timezone | limit 12<enter>" \
    >"$here/query.svg"
