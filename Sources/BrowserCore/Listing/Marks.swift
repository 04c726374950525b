import StorageEngine
import StoreInspection

/// The marked entries, in their state at the time of marking.
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
    private static let maximumLookedUp = 10_000

    /// Whether ``absent(from:filter:in:_:while:)`` looks the keys up.
    var areLookedUp: Bool { count <= Marks.maximumLookedUp }

    /// The keys that no longer exist. Nil if stopped.
    /// - Parameters:
    ///   - listing: the list in which the keys of a server are looked up; nil: looks them up on the server.
    ///   - filter: the filter of the list.
    func absent(
        from listing: (any EntryListing)? = nil, filter: String = "", in archive: ArchiveAddress,
        _ source: any StoreSource, while shouldContinue: () -> Bool
    ) throws(SourceError) -> Set<ExactText>? {
        guard areLookedUp else { return [] }
        if let listing, !listing.isByRecency {
            guard !listing.isCut, filter.isEmpty else { return [] }
            return keys.filter { listing.index(ofKey: $0.text) == nil }
        }
        var absent = keys
        var rest = list.map(\.key)[...]
        while !rest.isEmpty {
            guard shouldContinue() else { return nil }
            let block = Array(rest.prefix(64))
            rest = rest.dropFirst(block.count)
            for target in try source.targets(block, in: archive) { absent.remove(ExactText(target.key)) }
        }
        return absent
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
