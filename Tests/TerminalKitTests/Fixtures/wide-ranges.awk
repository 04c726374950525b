# Writes the ranges of East_Asian_Width W and F, joined where they touch.
# usage: awk -f wide-ranges.awk EastAsianWidth.txt > wide-ranges.txt
function value(hex,    i, n) { n = 0; for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789ABCDEF", substr(hex, i, 1)) - 1; return n }
/^[0-9A-F]/ {
    split($1, field, ";"); kind = field[2]; split(field[1], ends, /\.\./)
    if (kind != "W" && kind != "F") next
    first = ends[1]; final = (2 in ends) ? ends[2] : ends[1]
    if (open && value(first) == value(last) + 1) { last = final; next }
    if (open) print start " " last
    start = first; last = final; open = 1
}
END { print start " " last }
