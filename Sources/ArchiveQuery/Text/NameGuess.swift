package enum NameGuess {
    /// Longer names are not compared.
    private static let longest = 64

    /// The most similar name: one that differs only in case, or in a few letters that are wrong, missing or swapped; or one
    /// that begins with the name, or whose last part is the name. Nil if none is similar.
    package static func nearest(to name: String, among names: [String]) -> String? {
        let folded = name.lowercased()
        if let same = names.first(where: { $0.lowercased() == folded && $0 != name }) { return same }
        let most = name.utf8.count <= 4 ? 1 : 2
        // Names whose lengths differ by more aren't similar.
        let near = names.lazy.filter {
            $0.utf8.count <= longest && abs($0.utf8.count - folded.utf8.count) <= 2 * most
        }
        .map { (name: $0, distance: distance(folded, $0.lowercased())) }
        .min { $0.distance < $1.distance }
        if let near, near.distance <= most { return near.name }
        return names.first { $0.lowercased().hasSuffix("." + folded) }
            ?? names.first { begins($0, with: folded) }
    }

    /// Whether it is a prefix of the name except for one letter, like `contry` of `countrycode`.
    private static func begins(_ name: String, with folded: String) -> Bool {
        guard folded.count >= 4, folded.count <= longest else { return false }
        return (folded.count - 1...folded.count + 1).contains { length in
            length < name.count && distance(folded, name.prefix(length).lowercased()) <= 1
        }
    }

    /// The number of insertions, deletions, replacements and swaps of neighbors (optimal string alignment).
    package static func distance<Element: Equatable>(_ left: [Element], _ right: [Element]) -> Int {
        var before: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1] + Array(repeating: 0, count: right.count)
            for j in right.indices {
                row[j + 1] = min(last[j + 1] + 1, row[j] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    row[j + 1] = min(row[j + 1], before[j - 1] + 1)
                }
            }
            (before, last) = (last, row)
        }
        return last[right.count]
    }

    /// Whether the names differ at most in one letter that is wrong, missing or added, or in two swapped ones.
    static func areNear(_ left: String, _ right: String) -> Bool {
        abs(left.utf8.count - right.utf8.count) <= 1 && distance(left, right) <= 1
    }

    private static func distance(_ left: String, _ right: String) -> Int {
        distance(Array(left.utf8), Array(right.utf8))
    }
}
