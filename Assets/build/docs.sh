#!/bin/sh
# Builds web pages of the modules' documentation with DocC: docs.sh BUILD_FOLDER OUTPUT_FOLDER MODULE…
#
# BUILD_FOLDER has the built modules. Warnings, such as links to unknown symbols, are errors. Each module becomes a site in
# OUTPUT_FOLDER for `docc preview` or a web server.
set -eu

[ $# -ge 3 ] || {
    echo "vellum: docs.sh BUILD_FOLDER OUTPUT_FOLDER MODULE…" >&2
    exit 2
}
build=$1
output=$2
shift 2
docc=$(command -v docc || true)
[ -n "$docc" ] || docc=$(dirname "$(command -v swift)")/docc
[ -x "$docc" ] || docc=$(xcrun --find docc 2>/dev/null || true)
[ -x "$docc" ] || {
    echo "vellum: docc is missing beside swift; Swift's toolchains include it" >&2
    exit 1
}
triple=$(swift -print-target-info | sed -n 's/^ *"unversionedTriple": "\(.*\)",*$/\1/p' | head -n 1)
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT INT TERM

# C modules that these import, including those of other packages.
headers=
for map in "$build"/*.build/module.modulemap; do
    [ -f "$map" ] && headers="$headers -Xcc -fmodule-map-file=$map"
done
for map in "$(dirname "$build")"/checkouts/*/Sources/*/include/module.modulemap; do
    [ -f "$map" ] && headers="$headers -Xcc -I$(dirname "$map")"
done
mkdir -p "$output"
for module in "$@"; do
    mkdir "$graphs/$module"
    # shellcheck disable=SC2086 # several words
    swift symbolgraph-extract -module-name "$module" -target "$triple" -I "$build/Modules" \
        -Xcc -ISources/CPlatform/include $headers -minimum-access-level public -skip-synthesized-members \
        -output-dir "$graphs/$module"
    catalog=Sources/$module/$module.docc
    "$docc" convert $([ -d "$catalog" ] && echo "$catalog") --additional-symbol-graph-dir "$graphs/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" --warnings-as-errors \
        --transform-for-static-hosting --output-dir "$output/$module"
    echo "$output/$module"
done
