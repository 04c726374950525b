/// Whether a text holds a query's characters in order, where, and how well.
package struct FuzzyMatch: Sendable, Hashable {
    /// Higher is better: beginnings of words and characters in a row count most, gaps cost. Scores compare
    /// only for the same query.
    package let score: Int
    /// The matched characters of the text, as offsets in ascending order.
    package let positions: [Int]

    /// Nil when the query's characters don't all occur in order. Upper and lower case are the same, and spaces
    /// in the query don't count. Time is the product of both lengths.
    package init?(_ query: String, in text: String) {
        let wanted = query.lowercased().filter { $0 != " " }
        let characters = Array(text)
        guard !wanted.isEmpty else { return nil }
        var best: (score: Int, positions: [Int])?
        // The greedy match from each possible start: the first start isn't always the best one.
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
