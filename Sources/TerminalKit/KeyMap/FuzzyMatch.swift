package struct FuzzyMatch: Sendable, Hashable {
    /// Higher is better: word beginnings and consecutive characters count most, gaps cost. Comparable only for the same query.
    package let score: Int
    /// Offsets of the matched characters, ascending.
    package let positions: [Int]

    /// Nil unless the query's characters occur in order. Ignores case, and spaces in the query. O(query · text).
    package init?(_ query: String, in text: String) {
        let wanted = query.lowercased().filter { $0 != " " }
        let characters = Array(text)
        guard !wanted.isEmpty else { return nil }
        var best: (score: Int, positions: [Int])?
        // Try a greedy match from each possible start: the first start isn't always the best.
        for start in characters.indices where FuzzyMatch.same(characters[start], wanted.first) {
            guard let found = FuzzyMatch.greedy(wanted, in: characters, from: start) else { break }
            if best.map({ found.score > $0.score }) ?? true { best = found }
        }
        guard let best else { return nil }
        score = best.score
        positions = best.positions
    }

    private static func greedy(
        _ wanted: String, in text: [Character], from start: Int
    ) -> (score: Int, positions: [Int])? {
        var positions: [Int] = []
        var score = 100 - min(start, 10) / 2 - min(text.count, 40) / 4
        var next = start
        for character in wanted {
            guard let found = text[next...].firstIndex(where: { same($0, character) }) else { return nil }
            let beginsWord = found == 0 || !(text[found - 1].isLetter || text[found - 1].isNumber)
            score += beginsWord ? 12 : 0
            score += positions.last == found - 1 ? 16 : 0
            score -= min(found - next, 10)
            positions.append(found)
            next = found + 1
        }
        return (score, positions)
    }

    private static func same(_ left: Character, _ right: Character?) -> Bool {
        guard let right else { return false }
        return left == right || left.lowercased() == right.lowercased()
    }
}
