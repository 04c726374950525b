#!/bin/sh
# failed.sh EVENTS: what failed in a run of tests, a line for each issue, from the event stream that swift-testing writes.
# In what the run prints, thousands of lines of tests that passed stand before and after.
[ -s "$1" ] || exit 0
echo "What failed:"
sed -nE '/"kind":"issueRecorded"/{
    s/.*"sourceLocation":\{[^}]*"fileID":"([^"]*)","line":([0-9]+)\}.*"messages":\[(.*)\],"testID":"([^"]*)".*/  \1:\2: \3/
    s/\},\{"symbol":"[A-Za-z]*","text":/ /g
    s/\{"symbol":"[A-Za-z]*","text":|\}$//g
    s#\\/#/#g
    s/\\"/'"'"'/g
    s/^(.{1000}).*/\1…/
    p
}' "$1"
