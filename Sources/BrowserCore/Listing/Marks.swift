import StorageEngine
import StoreInspection

/// The marked entries, as they were when they were marked.
package struct Marks: Sendable, Equatable {
    private struct Mark: Equatable {
        var target: Target
        var place: Int
    }

    private var marks: [ExactText: Mark] = [:]
    private var end = 0
    package private(set) var bytes: UInt64 = 0

    package init(_ targets: [Target] = []) {
        for target in targets { add(target) }
    }

    package var isEmpty: Bool { marks.isEmpty }
    package var count: Int { marks.count }

    package func contains(_ key: String) -> Bool { marks[ExactText(key)] != nil }

    mutating func add(_ target: Target) {
        remove(target.key)
        marks[ExactText(target.key)] = Mark(target: target, place: end)
        end += 1
        bytes += UInt64(target.size)
    }

    mutating func remove(_ key: String) {
        guard let old = marks.removeValue(forKey: ExactText(key)) else { return }
        bytes -= UInt64(old.target.size)
    }

    mutating func remove(_ keys: some Sequence<String>) {
        for key in keys where !isEmpty { remove(key) }
    }

    mutating func toggle(_ target: Target) {
        if contains(target.key) { remove(target.key) } else { add(target) }
    }

    /// The marked keys that aren't in `others`.
    func missing(in others: some Sequence<Target>) -> [String] {
        guard !isEmpty else { return [] }
        var rest = marks
        for target in others where !rest.isEmpty { rest[ExactText(target.key)] = nil }
        return rest.values.map(\.target.key)
    }

    var keys: Set<ExactText> { Set(marks.keys) }

    /// More marked keys aren't looked up: that would delay lists and plans.
    private static let mostLookedUp = 10_000

    /// The keys that no longer exist; of a server, those that its whole list doesn't have. Nil if stopped.
    /// - Parameters:
    ///   - listing: the list of the rows; nil: looks up each key.
    ///   - filter: the filter of the list.
    func absent(
        from listing: (any EntryListing)? = nil, filter: String = "", in archive: ArchiveAddress,
        _ source: any StoreSource, while goesOn: () -> Bool
    ) throws(SourceError) -> Set<ExactText>? {
        guard count <= Marks.mostLookedUp else { return [] }
        var removed: Set<ExactText> = []
        for key in marks.keys {
            guard goesOn() else { return nil }
            let isRemoved =
                if let listing, !listing.isByRecency {
                    !listing.isCut && filter.isEmpty && listing.index(ofKey: key.text) == nil
                } else {
                    // An entry that can't be read is present.
                    (try? source.entry(key.text, in: archive)) == .some(nil)
                }
            if isRemoved { removed.insert(key) }
        }
        return removed
    }

    /// Adds marks. Existing marks stay unchanged.
    mutating func formUnion(_ other: Marks) {
        guard !isEmpty else {
            self = other
            return
        }
        for target in other.list where !contains(target.key) { add(target) }
    }

    /// The targets in the order of marking; if all were marked at once, in the order of the list.
    var list: [Target] {
        var places = [Target?](repeating: nil, count: end)
        for mark in marks.values { places[mark.place] = mark.target }
        return places.compactMap { $0 }
    }
}
