import StorageEngine

/// Uses a damaged archive in all ways. Errors are fine; results must be consistent.
final class Visit {
    private let store: FuzzStore
    private(set) var failure: String?
    /// Evictions at the last look.
    private(set) var evictions: UInt64 = 0

    init(_ store: FuzzStore) { self.store = store }

    private func object(_ text: String) { failure = failure ?? text }

    private func with(_ mode: AccessMode, _ body: (Store, Archive) throws -> Void) {
        guard let store = try? Store.open(at: store.path, mode: mode) else {
            return object("the store won't open")
        }
        defer { store.close() }
        guard let archive = try? store.archive(named: FuzzStore.archive) else { return }
        try? body(store, archive)
    }

    /// Reads everything. Returns the entries without expiry times; `nil` if they can't be listed.
    @discardableResult
    func look(mode: AccessMode, trusting: Bool = false) -> [String: [UInt8]]? {
        var entries: [String: [UInt8]]?
        with(mode) { _, archive in
            if !trusting, mode == .readWrite {
                let violations = try archive.invariantViolations()
                if !violations.isEmpty { object("a new index disagrees with itself: \(violations)") }
            }
            let list = try archive.entries()
            var found: [String: [UInt8]] = [:]
            for index in list.indices {
                guard let key = try list.soundKey(at: index),
                    let metadata = try list.soundMetadata(at: index)
                else { continue }
                let value = try? list.withValue(at: index) { Array($0) }
                if metadata.expires == nil, let value { found[key] = value }
                _ = try? archive.history(of: key)
            }
            entries = found
            if let status = try? archive.status() { evictions = status.evictions }
            _ = try? archive.owners()
            _ = try? archive.reversibleActions()
            _ = try? archive.events()
            _ = try? archive.processes()
            readMessages(archive)
            _ = try archive.check()
        }
        return entries
    }

    private func readMessages(_ archive: Archive) {
        var cursor: MessageCursor?
        // More than the log of an input can hold.
        for _ in 0..<2000 {
            guard let batch = try? archive.messages(after: cursor, most: 50), !batch.messages.isEmpty else {
                return
            }
            cursor = batch.next
        }
        object("messages have no end")
    }

    /// Runs all changing operations.
    func use(trusting: Bool = false) {
        with(.readWrite) { _, archive in
            let list = try archive.entries()
            let keys = try list.indices.prefix(40).compactMap { try list.soundKey(at: $0) }
            for key in keys.prefix(10) { _ = try? archive.access(key) }
            for action in (try? archive.reversibleActions()) ?? [] { _ = try? archive.undo(action.id) }
            for (number, key) in (keys.prefix(6) + ["new", "new too"]).enumerated() {
                let value = [UInt8](repeating: UInt8(number), count: 100 * number)
                guard (try? archive.put(value, forKey: key)) != nil else { continue }
                if let found = try? archive.peek(key), found != value { object("\(key) has another value") }
            }
            if let key = keys.last {
                _ = try? archive.setLifetime(.seconds(60), forKey: key)
                let isGone = (try? archive.delete(key)) != nil
                if isGone, !trusting, let left = try? archive.peek(key), !left.isEmpty {
                    object("\(key) is present after its deletion")
                }
            }
            _ = try? archive.removeExpired()
            _ = try? archive.deleteEntries(ofOwner: "owner 1")
            _ = try? archive.append([1, 2, 3])
            let isLimited = (try? archive.setLimits(disk: 5_000, memory: nil)) != nil
            if isLimited, !trusting, let bytes = try? archive.status().diskBytes, bytes > 5_000 {
                object("\(bytes) bytes, above the limit")
            }
            _ = try? archive.deleteAllReversibly()
            _ = try? archive.undo()
            if trusting {
                _ = try? archive.check()
            } else {
                let violations = try archive.invariantViolations()
                if !violations.isEmpty { object("use left: \(violations)") }
            }
        }
    }

    /// Whether a problem is shorter than any frame. Only forged checksums leave one.
    private static func isTooShort(_ problem: String) -> Bool {
        let words = problem.split(separator: " ")
        guard let place = words.firstIndex(of: "bytes"), words.count > place + 3,
            let from = Int(words[place + 1]), let to = Int(words[place + 3])
        else { return false }
        return to - from < 48
    }

    /// Repairs, and expects a clean check.
    func repair() {
        guard let store = try? Store.open(at: store.path) else { return object("the store won't open") }
        defer { store.close() }
        do throws(StorageError) {
            let report = try store.repair(archiveNamed: FuzzStore.archive)
            let archive = try store.archive(named: FuzzStore.archive)
            let check = try archive.check()
            if !check.problems.allSatisfy(Visit.isTooShort) {
                object("not clean after a repair: \(check.problems)")
            }
            if check.entries != report.entries {
                object("repair counted \(report.entries), check \(check.entries)")
            }
        } catch {
            // A repair leaves files of later formats alone.
            switch error {
            case .unsupportedVersion: return
            default: break
            }
            object("repair failed: \(error)")
        }
    }
}
