/// The length of one part of a row or column.
package enum Part: Sendable, Hashable {
    /// Cells, less in a smaller space.
    case fixed(Int)
    /// Minimum cells, and a weighted share of the remaining space.
    case minimum(Int, weight: Int = 1)
    /// A weighted share of the remaining space.
    case flexible(Int = 1)
}

package enum Layout {
    /// The lengths of the parts. Fixed and minimum lengths are allotted in order while space remains; never more than `total`.
    package static func lengths(of parts: [Part], in total: Int, gap: Int = 0) -> [Int] {
        var available = max(0, total - gap * max(0, parts.count - 1))
        var lengths = parts.map { part -> Int in
            let wanted =
                switch part {
                case .fixed(let length), .minimum(let length, _): max(0, length)
                case .flexible: 0
                }
            let given = min(wanted, available)
            available -= given
            return given
        }
        let weights = parts.map { part -> Int in
            switch part {
            case .fixed: 0
            case .minimum(_, let weight), .flexible(let weight): max(0, weight)
            }
        }
        let sum = weights.reduce(0, +)
        guard sum > 0, available > 0 else { return lengths }
        // Rounding the running total instead of each share loses no cell.
        var weightBefore = 0
        for index in parts.indices {
            let start = available * weightBefore / sum
            weightBefore += weights[index]
            lengths[index] += available * weightBefore / sum - start
        }
        return lengths
    }
}
