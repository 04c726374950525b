import ArchiveQuery
import StorageEngine
import StoreInspection

/// A scan that lists the keys of a database, and continues after a stop. Its lists share the keys' metadata. Safe from any thread.
package final class ListingScan: Sendable {
    fileprivate struct Facts {
        var recent: [Int: KeyMetadata?] = [:]
        var asked = Timestamp.now()
        var cached = CachedFacts()
    }

    fileprivate let connection: ServerConnection
    fileprivate let database: Int
    /// The keys' facts, by the keys' numbers.
    fileprivate let facts = Guarded(Facts())
    private let state: Guarded<(scan: ServerScan, keys: KeyTable)>

    package init(_ connection: ServerConnection, database: Int, matching pattern: [UInt8]? = nil) {
        (self.connection, self.database) = (connection, database)
        state = Guarded((ServerScan(connection, database: database, matching: pattern), KeyTable()))
    }

    package var count: Int { state.withLock { $0.keys.count } }

    fileprivate var found: (keys: KeyTable, isAtEnd: Bool) { state.withLock { ($0.keys, $0.scan.isAtEnd) } }

    /// Returns false at the end.
    fileprivate func advance(most: Int) throws(SourceError) -> Bool {
        try state.withLock { (state) throws(SourceError) in
            try state.scan.next(&state.keys, most: most) != nil
        }
    }

    /// Requests the metadata of some keys. Returns false if it was stopped.
    fileprivate func requestFacts(
        _ keys: [Int], while shouldContinue: (Double) -> Bool = { _ in true }
    ) throws(SourceError) -> Bool {
        var rest = keys[...]
        while !rest.isEmpty {
            guard shouldContinue(1 - Double(rest.count) / Double(keys.count)) else { return false }
            let block = rest.prefix(ServerListing.smallBlock * connection.stepFactor)
            rest = rest.dropFirst(block.count)
            let names = state.withLock { state in block.map { Array(state.keys[$0]) } }
            let found = try connection.paced(try connection.facts(of: names, in: database))
            let now = Timestamp.now()
            facts.withLock { facts in
                for (index, found) in zip(block, found) { facts.cached.note(found, at: index, now: now) }
            }
        }
        return true
    }

    fileprivate func endRead() { facts.withLock { $0.cached.endRead(at: .now()) } }
}

/// The keys of a database in the order of a scan. Facts of keys are requested when they are shown, or for all keys by
/// ``loadMetadata(of:_:)``. Safe from any thread.
package final class ServerListing: EntryListing {
    private let scan: ListingScan
    private var connection: ServerConnection { scan.connection }
    private let keys: KeyTable
    package let isCut: Bool
    private let allowsAccesses: Bool

    /// Maximum number of keys, which take some 100 MB.
    package static let most = 2_000_000
    /// Number of keys in a request for shown rows, and the minimum in paced requests, which must not delay other clients.
    private static let block = 64
    fileprivate static let smallBlock = 16
    private static let mostRecent = 4096
    /// Seconds for which cached facts are valid.
    private static let fresh = 1.0

    /// Begins or continues a scan; nil: stopped.
    /// - Parameters:
    ///   - most: maximum number of keys.
    ///   - isPaced: whether the scan pauses for other clients.
    ///   - loadsMetadata: requests the metadata of the found keys after each step, so that incomplete lists can be sorted.
    ///   - shouldContinue: gets the number of keys found so far, and returns whether to continue.
    package convenience init?(
        _ scan: ListingScan, most: Int = ServerListing.most, isPaced: Bool = true,
        loadsMetadata: Bool = false, while shouldContinue: (Int) -> Bool = { _ in true }
    ) throws(SourceError) {
        let connection = scan.connection
        while case let count = scan.count, count < most, shouldContinue(count) {
            let isAdvanced =
                isPaced
                ? try connection.paced(try scan.advance(most: most)) : try scan.advance(most: most)
            if loadsMetadata { _ = try scan.requestFacts(Array(count..<scan.count)) }
            if !isAdvanced { break }
        }
        if loadsMetadata { scan.endRead() }
        self.init(found: scan)
        if isCut, count < most { return nil }
    }

    /// Lists the keys that a scan has found so far.
    package init(found scan: ListingScan) {
        let (keys, isAtEnd) = scan.found
        (self.scan, self.keys, isCut, allowsAccesses) = (scan, keys, !isAtEnd, false)
    }

    private init(allowingAccesses other: ServerListing) {
        (scan, keys, isCut, allowsAccesses) = (other.scan, other.keys, other.isCut, true)
    }

    package func allowingAccesses() -> any EntryListing { ServerListing(allowingAccesses: self) }

    package var isByRecency: Bool { false }
    package var count: Int { keys.count }
    package var valueBytes: UInt64 { scan.facts.withLock { $0.cached.total } }
    package var knowsFigures: Bool { scan.facts.withLock { $0.cached.firstUnknown >= count } }

    package func wasPresent(at index: Int) -> Bool? {
        scan.facts.withLock { $0.cached.facts(at: index).map { !$0.type.isEmpty } }
    }

    private func known(at index: Int) -> KeyMetadata? {
        scan.facts.withLock { $0.cached.facts(at: index) ?? $0.recent[index] ?? nil }
    }

    package func figures(at index: Int) -> (size: UInt64, hits: UInt32) {
        let facts = known(at: index)
        return (UInt64(clamping: facts?.memory ?? 0), UInt32(facts?.frequency ?? 0))
    }

    package func expiryAndTier(at index: Int) -> (expires: Timestamp?, tier: Tier) {
        (known(at: index)?.expires, .disk)
    }

    package func accessed(at index: Int) -> Timestamp { known(at: index)?.used ?? .now() }

    package func kind(at index: Int) -> (type: String, layout: String?)? {
        latest(at: index).flatMap { $0.type.isEmpty ? nil : ($0.type, $0.layout) }
    }

    package func unknown(at index: Int) -> Set<QueryMetadata> { latest(at: index)?.unknown ?? [] }

    /// The facts of a visible row may be newer than the cached ones.
    private func latest(at index: Int) -> KeyMetadata? {
        scan.facts.withLock { $0.recent[index] ?? nil } ?? known(at: index)
    }

    package func unsupportedReason(for properties: [QueryProperty]) throws(SourceError) -> String? {
        try connection.capabilities().unsupportedReason(for: properties)
    }

    package func key(at index: Int) throws(SourceError) -> String? { KeyName.text(keys[index]) }

    package func index(ofKey key: String) -> Int? { keys.index(of: KeyName.bytes(key)) }

    package func entry(at index: Int) throws(SourceError) -> EntryMetadata? {
        guard let facts = try facts(at: index) else { return nil }
        var metadata = facts.metadata(of: Array(keys[index]), at: .now())
        metadata.rank = nil
        return metadata
    }

    package func value(at index: Int) throws(SourceError) -> (encoding: ValueEncoding, bytes: [UInt8])? {
        guard let facts = try facts(at: index) else { return nil }
        if !allowsAccesses, let reason = try connection.capabilities().unreadableReason {
            throw SourceError(reason)
        }
        return try connection.paced(
            try connection.value(of: Array(keys[index]), type: facts.type, in: scan.database)
        ).map { ($0.encoding, $0.bytes) }
    }

    package func prepare(_ indices: [Int]) throws(SourceError) {
        scan.facts.withLock { state in (state.recent, state.asked) = ([:], .now()) }
        for start in stride(from: 0, to: indices.count, by: ServerListing.block) {
            let block = Array(indices[start..<min(start + ServerListing.block, indices.count)])
            if indices.count < CollectedTargets.block {
                try requestFacts(block)
            } else {
                try connection.paced(try requestFacts(block))
            }
        }
    }

    /// Returns cached facts, or requests those of the key and of the next keys.
    private func facts(at index: Int) throws(SourceError) -> KeyMetadata? {
        let known = scan.facts.withLock { (state) -> KeyMetadata?? in
            let now = Timestamp.now()
            if now.seconds(since: state.asked) > ServerListing.fresh { state.recent = [:] }
            if let facts = state.recent[index] { return facts }
            guard state.cached.isFresh(index, at: now), let facts = state.cached.facts(at: index) else {
                return nil
            }
            return facts.type.isEmpty ? .some(nil) : facts
        }
        if let known { return known }
        let block = Array(index..<min(index + ServerListing.smallBlock, count))
        try connection.paced(try requestFacts(block))
        return scan.facts.withLock { $0.recent[index] ?? nil }
    }

    private func requestFacts(_ indices: [Int]) throws(SourceError) {
        let found = try connection.facts(of: indices.map { Array(keys[$0]) }, in: scan.database)
        scan.facts.withLock { state in
            if state.recent.count > ServerListing.mostRecent { state.recent = [:] }
            if state.recent.isEmpty { state.asked = .now() }
            for (index, facts) in zip(indices, found) { state.recent[index] = .some(facts) }
        }
    }

    package func loadMetadata(of entries: Positions, _ shouldContinue: (Double) -> Bool) throws(SourceError)
        -> Bool
    {
        let unknown = scan.facts.withLock { state in
            (0..<entries.count).map { entries.index(atRow: $0) }.filter { !state.cached.knows($0) }
        }
        guard !unknown.isEmpty else { return true }
        defer { scan.endRead() }
        return try scan.requestFacts(unknown, while: shouldContinue)
    }
}
