/// The rows of a table as indices of a listing.
package enum Positions: Sendable, Equatable {
    /// All, the most recently used first; takes no memory.
    case all(Int)
    /// All, the least recently used first.
    case reversed(Int)
    case some([Int32])

    package var count: Int {
        switch self {
        case .all(let count), .reversed(let count): count
        case .some(let indices): indices.count
        }
    }

    package func index(atRow row: Int) -> Int {
        switch self {
        case .all: row
        case .reversed(let count): count - 1 - row
        case .some(let indices): Int(indices[row])
        }
    }

    /// The row of an index. O(1) by recency, else O(rows).
    package func row(ofIndex index: Int) -> Int? {
        switch self {
        case .all(let count): index < count ? index : nil
        case .reversed(let count): index < count ? count - 1 - index : nil
        case .some(let indices): indices.firstIndex(of: Int32(index))
        }
    }
}
