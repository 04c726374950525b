#!/bin/sh
# Fuzzes one target after the other: fuzz.sh PROGRAM FOLDER SECONDS TARGET…
# FOLDER keeps the results: corpus/TARGET, and crashes/TARGET with failing inputs, which are tried first.
set -u
# Swift's handler would end the program before libFuzzer has saved the input.
export SWIFT_BACKTRACE=enable=no
program=$1 folder=$2 seconds=$3
shift 3
failed=0
for target; do
    corpus=$folder/corpus/$target crashes=$folder/crashes/$target
    mkdir -p "$corpus" "$crashes" || exit 1
    export VELLUM_FUZZ_TARGET="$target" VELLUM_FUZZ_SEEDS="$corpus"
    for input in "$crashes"/*; do
        [ -f "$input" ] || continue
        "$program" "$input" </dev/null >"$folder/replay.txt" 2>&1 && continue
        echo "vellum: $target still fails on $input" >&2
        failed=1
    done
    "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="$crashes/" "$corpus" </dev/null >"$folder/$target.txt" 2>&1 || {
        echo "vellum: $target failed, see $folder/$target.txt and $crashes" >&2
        failed=1
    }
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$target.txt") inputs in $seconds s"
done
exit $failed
