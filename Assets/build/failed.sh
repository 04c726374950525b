#!/bin/sh
# failed.sh EVENTS: prints each failure of a test run on a line, from the event stream of swift-testing. In the run's output, failures
# are among thousands of lines of passed tests.
[ -s "$1" ] || exit 0
echo "Failures:"
sed -nE '/"kind":"issueRecorded"/{
    s/.*"sourceLocation":\{[^}]*"fileID":"([^"]*)","line":([0-9]+)\}.*"messages":\[(.*)\],"testID":"([^"]*)".*/  \1:\2: \3/
    s/\},\{"symbol":"[A-Za-z]*","text":/ /g
    s/\{"symbol":"[A-Za-z]*","text":|\}$//g
    s#\\/#/#g
    s/\\"/'"'"'/g
    s/^(.{1000}).*/\1…/
    p
}' "$1"
