import Foundation
import Papyrus

/// An object of a set that is merged as a whole; it has the number of the set.
public struct Piece: Papyrus, Sendable {
    public let id: Int
    public let set: Int
    public let text: String

    /// The pieces of a set; half of them have identifiers of the set before it.
    public static func all(ofSet set: Int, count: Int) -> [Piece] {
        let first = set % 2 * (count / 2)
        return (first..<first + count).map { Piece(id: $0, set: set, text: "piece \($0) of set \(set)") }
    }

    /// Why the pieces, in any order, are not a whole set; `nil` for a whole set or none.
    public static func complaint(about pieces: [Piece], count: Int) -> String? {
        guard let set = pieces.first?.set else { return nil }
        if let other = pieces.first(where: { $0.set != set }) {
            return "sets \(set) and \(other.set) at once"
        }
        let expected = all(ofSet: set, count: count)
        if pieces.count != count { return "\(pieces.count) pieces of set \(set)" }
        return pieces.sorted { $0.id < $1.id } == expected ? nil : "other pieces than those of set \(set)"
    }
}

/// The type before a migration.
public struct Draft: Papyrus, Sendable {
    public let id: Int
    public let text: String

    public init(id: Int, text: String) {
        self.id = id
        self.text = text
    }
}

public struct Letter: Papyrus, Sendable {
    public let id: Int
    public let text: String
    public let pages: Int

    public init(id: Int, text: String, pages: Int) {
        self.id = id
        self.text = text
        self.pages = pages
    }
}

public let lettersOfDrafts = Migration<Draft, Letter> { Letter(id: $0.id, text: $0.text, pages: $0.id % 9) }

/// Identified by a `UUID`, which isn't `LosslessStringConvertible` in this module.
public struct Ticket: Papyrus, Sendable {
    public let id: UUID
    public let text: String

    public init(id: UUID, text: String) {
        self.id = id
        self.text = text
    }
}

/// A time that one process stores and another reads: nanoseconds of the system's monotonic clock.
public struct Moment: Papyrus, Sendable {
    public let id: Int
    public let nanoseconds: UInt64

    public init(id: Int, nanoseconds: UInt64) {
        self.id = id
        self.nanoseconds = nanoseconds
    }

    public static func now(_ id: Int) -> Moment {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Moment(id: id, nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }
}
