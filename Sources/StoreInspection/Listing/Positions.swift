/// Which entries of a listing the rows of a table show. A value; safe to share between threads.
package enum Positions: Sendable, Equatable {
    /// All, in the listing's own order; costs no memory.
    case all(Int)
    /// All, the oldest first.
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

    /// The row of a listing's index. O(1) for the orders of the list itself, else O(rows).
    package func row(ofIndex index: Int) -> Int? {
        switch self {
        case .all(let count): index < count ? index : nil
        case .reversed(let count): index < count ? count - 1 - index : nil
        case .some(let indices): indices.firstIndex(of: Int32(index))
        }
    }
}
