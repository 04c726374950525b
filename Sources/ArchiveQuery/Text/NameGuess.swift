/// Which of some names was probably meant by one that isn't among them. Stateless.
package enum NameGuess {
    /// Names that are longer are no typing mistakes.
    private static let longest = 64

    /// The nearest one: the same but for the case, or with few letters wrong, missing or exchanged; or one that ends
    /// with the name as a part of its own, or begins with it. Nil if none is near.
    package static func nearest(to name: String, among names: [String]) -> String? {
        let folded = name.lowercased()
        if let same = names.first(where: { $0.lowercased() == folded && $0 != name }) { return same }
        let most = name.utf8.count <= 4 ? 1 : 2
        let near = names.lazy.filter { $0.utf8.count <= longest && folded.utf8.count <= longest }
            .map { (name: $0, distance: distance(folded, $0.lowercased())) }
            .min { $0.distance < $1.distance }
        if let near, near.distance <= most { return near.name }
        return names.first { $0.lowercased().hasSuffix("." + folded) }
            ?? names.first { begins($0, with: folded) }
    }

    /// Whether it is the beginning of the name, but for one letter: `contry` of `countrycode`.
    private static func begins(_ name: String, with folded: String) -> Bool {
        guard folded.count >= 4, folded.count <= longest else { return false }
        return (folded.count - 1...folded.count + 1).contains { length in
            length < name.count && distance(folded, name.prefix(length).lowercased()) <= 1
        }
    }

    /// Letters to insert, to leave out, to replace, or pairs of neighbours to exchange (optimal string alignment).
    private static func distance(_ left: String, _ right: String) -> Int {
        let (a, b) = (Array(left.utf8), Array(right.utf8))
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in 0..<a.count {
            var row = [i + 1] + Array(repeating: 0, count: b.count)
            for j in 0..<b.count {
                row[j + 1] = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    row[j + 1] = min(row[j + 1], before[j - 1] + 1)
                }
            }
            (before, last) = (last, row)
        }
        return last[b.count]
    }
}
