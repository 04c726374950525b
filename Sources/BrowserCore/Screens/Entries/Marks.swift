import StorageEngine
import StoreInspection

/// The marked entries, as they were when they were marked.
package struct Marks: Sendable, Equatable {
    private var targets: [ExactText: Target] = [:]
    package private(set) var bytes: UInt64 = 0

    package init(_ targets: [Target] = []) {
        for target in targets { add(target) }
    }

    package var isEmpty: Bool { targets.isEmpty }
    package var count: Int { targets.count }

    package func contains(_ key: String) -> Bool { targets[ExactText(key)] != nil }

    mutating func add(_ target: Target) {
        remove(target.key)
        targets[ExactText(target.key)] = target
        bytes += UInt64(target.size)
    }

    mutating func remove(_ key: String) {
        guard let old = targets.removeValue(forKey: ExactText(key)) else { return }
        bytes -= UInt64(old.size)
    }

    mutating func remove(_ gone: some Sequence<Target>) {
        for target in gone where !isEmpty { remove(target.key) }
    }

    mutating func toggle(_ target: Target) {
        if contains(target.key) { remove(target.key) } else { add(target) }
    }

    /// The marked keys that aren't in `others`.
    func missing(in others: some Sequence<Target>) -> [String] {
        guard !isEmpty else { return [] }
        var rest = targets
        for target in others where !rest.isEmpty { rest[ExactText(target.key)] = nil }
        return rest.values.map(\.key)
    }

    var keys: Set<ExactText> { Set(targets.keys) }

    /// Adds marks; those of entries that are marked already stay.
    mutating func formUnion(_ other: Marks) {
        guard !isEmpty else {
            self = other
            return
        }
        for target in other.targets.values where !contains(target.key) { add(target) }
    }

    /// The targets; sorted by key up to 20,000, so that the cost stays bounded.
    var list: [Target] {
        let all = Array(targets.values)
        return all.count <= 20_000 ? all.sorted { $0.key < $1.key } : all
    }
}
