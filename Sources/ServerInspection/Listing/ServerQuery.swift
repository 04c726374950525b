import ArchiveQuery
import StorageEngine
import StoreInspection
import ValkeyWire

/// The keys of a database for a query, streamed by `SCAN`. Metadata, five commands a key, and values are only read if needed, at
/// the pace of ``ServerConnection/paced(_:)``. For one thread.
package struct ServerQuery: QuerySource {
    private let connection: ServerConnection
    private let database: Int
    private let shouldContinue: () -> Bool
    private let count: Int
    private let server: Int
    private let readsEveryValue: Bool
    private let keyCondition: QueryPredicate?
    private var only: [String]?

    /// - Parameter shouldContinue: called at each step of the scan; returns whether to continue.
    /// - Throws: also if the server doesn't report metadata of the query.
    package init(
        _ connection: ServerConnection, database: Int, for pipeline: QueryPipeline,
        while shouldContinue: @escaping () -> Bool = { true }
    ) throws(SourceError) {
        (self.connection, self.database, self.shouldContinue) = (connection, database, shouldContinue)
        let asked = pipeline.stages.flatMap(\.properties)
        if let reason = try connection.capabilities().unsupportedReason(for: asked) {
            throw SourceError(reason)
        }
        count = Int(clamping: try connection.ask(RESPCommand("DBSIZE"), in: database).number ?? 0)
        server = try connection.serverNumber()
        readsEveryValue = QueryPlan(pipeline).readsEveryValue
        keyCondition = pipeline.keyCondition
    }

    package func only(_ keys: [String]) -> ServerQuery {
        var query = self
        query.only = keys
        return query
    }

    package func cursor(in order: QueryScanOrder) throws -> any QueryCursor { cursor(over: only) }

    package func cursor(forKeys keys: [String]) throws -> any QueryCursor {
        let meant = only.map { Set($0.map(ExactText.init)) }
        return cursor(over: keys.filter { meant?.contains(ExactText($0)) ?? true })
    }

    private func cursor(over keys: [String]?) -> ServerCursor {
        ServerCursor(
            connection, server, database, keys: keys?.map(KeyName.bytes), count: count,
            readsEveryValue: readsEveryValue, keyCondition, while: shouldContinue)
    }
}

extension ServerCapabilities {
    /// Why values aren't read unless the user requests it; nil: reading them doesn't change idle times.
    package var unreadableReason: String? {
        keepsIdleTimes
            ? nil : "\(product) has no CLIENT NO-TOUCH, so reading a value counts as an access to its key"
    }

    /// A query that causes no accesses: the same query, or one with `columns` in place of values. Nil if conditions need values.
    package func withoutAccesses(_ plan: QueryPlan, showing columns: [QueryColumn]) -> QueryPlan? {
        guard plan.readsValues, unreadableReason != nil else { return plan }
        let rows = QueryPlan(QueryPipeline(plan.pipeline.stages + [.select(columns)]))
        return rows.readsValues ? nil : rows
    }

    /// Why the server can't report properties; nil: it can.
    package func unsupportedReason(for properties: [QueryProperty]) -> String? {
        for case .metadata(let metadata) in properties {
            switch metadata {
            case .created, .age, .owner, .tier, .rank: return "a server doesn't report @\(metadata.rawValue)"
            case .idle, .accessed:
                if countsUses {
                    return
                        "\(product) counts accesses (an LFU policy) and doesn't report @\(metadata.rawValue); use @hits"
                }
            case .hits:
                if !countsUses { return "\(product) reports @hits only with an LFU policy; use @idle" }
            case .key, .size, .ttl, .expires, .type, .encoding: break
            }
        }
        return nil
    }
}

/// Visits keys one by one. For one thread. Bytes of a key or a value are valid until the cursor moves.
final class ServerCursor: QueryCursor {
    private static let block = 16
    /// Maximum retries of a read during which the key's type changes.
    private static let mostRereads = 8

    private let connection: ServerConnection
    /// Number of the server that must send all replies.
    private let server: Int
    private let database: Int
    private var scan: ServerScan?
    private var seen = KeyTable()
    private var waiting: ArraySlice<[UInt8]> = []
    private var facts: [[UInt8]: KeyMetadata?] = [:]
    private let readsEveryValue: Bool
    /// Values that were read together with the facts.
    private var values: [[UInt8]: ServerValue] = [:]
    private let shouldContinue: () -> Bool
    /// Whether a key may meet the condition on keys. Reads nothing.
    private var admits: ([UInt8]) -> Bool = { _ in true }
    let count: Int
    private(set) var visited = 0

    private var name = CopiedBytes()
    private var content = CopiedBytes()
    private var hasContent = false
    private(set) var encoding = ValueEncoding.unknown
    private var present: [UInt8] = []
    private var known: KeyMetadata?
    private var reading: QueryCursorReading?
    private var rereads = 0
    private var damage = ""
    /// The first key with unknown metadata.
    private var firstUnknown: String?
    /// An error of a getter, which the next ``advance()`` throws.
    private var failure: (any Error)?

    /// - Parameters:
    ///   - keys: the keys to visit; nil: all.
    ///   - readsEveryValue: reads short values together, also those of the next keys.
    ///   - condition: the condition on keys; facts of keys that may meet it are read ahead. Nil: all keys.
    init(
        _ connection: ServerConnection, _ server: Int, _ database: Int, keys: [[UInt8]]?, count: Int,
        readsEveryValue: Bool, _ condition: QueryPredicate? = nil, while shouldContinue: @escaping () -> Bool
    ) {
        self.readsEveryValue = readsEveryValue
        (self.connection, self.server, self.database) = (connection, server, database)
        (self.count, self.shouldContinue) = (keys?.count ?? count, keys == nil ? shouldContinue : { true })
        waiting = (keys ?? [])[...]
        scan = keys == nil ? ServerScan(connection, database: database) : nil
        guard let condition else { return }
        let tested = ServerCursor(
            connection, server, database, keys: nil, count: 0, readsEveryValue: false, while: shouldContinue)
        guard let probe = try? EntryProbe(tested, condition: condition, now: .now()) else { return }
        admits = { key in
            tested.present = key
            probe.next()
            if case .found(let isMet) = probe.isMet() { return isMet } else { return true }
        }
    }

    func advance() throws -> Bool {
        if let failure { throw failure }
        (known, reading, rereads, hasContent, encoding) = (nil, nil, 0, false, .unknown)
        while waiting.isEmpty {
            if !shouldContinue() { throw QueryError.cancelled }
            guard let found = try read(try scan?.next(&seen)) else { return false }
            waiting = found[...]
        }
        present = waiting.removeFirst()
        visited += 1
        return true
    }

    private func read<Answer>(
        _ request: @autoclosure () throws(SourceError) -> Answer
    ) throws(SourceError) -> Answer {
        let reply = try connection.paced(try request())
        try connection.requireServer(server)
        return reply
    }

    func load() throws -> QueryCursorReading {
        if let reading { return reading }
        if facts[present] == nil {
            // The facts of an excluded key are needed only if all keys need them.
            let isAdmitted = admits(present)
            let keys =
                [present]
                + waiting.lazy.filter { !isAdmitted || self.admits($0) }.prefix(
                    ServerCursor.block * connection.stepFactor - 1)
            let found = try read(try connection.facts(of: keys, in: database))
            facts = Dictionary(zip(keys, found)) { first, _ in first }
            if readsEveryValue { values = try read(try connection.shortStrings(keys, found, in: database)) }
        }
        known = facts[present] ?? nil
        reading = known == nil ? .removed : .present
        return reading ?? .removed
    }

    func loadValue() throws -> QueryCursorValue {
        let removed = QueryCursorValue(reading: .removed, content: nil, encoding: .unknown)
        guard try load() == .present, let known else { return removed }
        if known.type == KeyMetadata.forbidden { return damaged(KeyMetadata.forbiddenReason) }
        do throws(SourceError) {
            var value = values.removeValue(forKey: present)
            if value == nil {
                value = try read(
                    try connection.value(
                        of: present, type: known.type, in: database, most: ServerValue.mostForCommands))
            }
            guard let value else { return removed }
            // A part of a value would give wrong results.
            if let problem = value.shortage ?? (value.isUnreadable ? value.origin : nil) {
                return damaged(problem)
            }
            encoding = value.encoding
            content.keep(value.bytes)
            hasContent = true
            return QueryCursorValue(reading: .present, content: content.bytes, encoding: encoding)
        } catch {
            // After a change to another server, the query can't continue.
            try connection.requireServer(server)
            if error.refusal?.hasPrefix("WRONGTYPE") == true, rereads < ServerCursor.mostRereads {
                // The type was changed between the commands.
                (facts[present], reading, rereads) = (nil, nil, rereads + 1)
                return try loadValue()
            }
            return damaged(error.description)
        }
    }

    private func damaged(_ problem: String) -> QueryCursorValue {
        if damage.isEmpty { damage = "\(TerminalSafe.quoted(key)): \(problem)" }
        return QueryCursorValue(reading: .damaged, content: nil, encoding: .unknown)
    }

    func damageWarning(_ count: Int) -> String {
        let hidden = firstUnknown.map { "\(TerminalSafe.quoted($0)): \(KeyMetadata.forbiddenReason)" }
        return
            "\(Figures.count(count, "key", "keys")) could not be read; first \(damage.isEmpty ? hidden ?? "" : damage)"
    }

    /// Without a scan, the key may be absent.
    func loadKey() throws -> (reading: QueryCursorReading, key: UnsafeRawBufferPointer) {
        (scan == nil ? try load() : .present, keyBytes)
    }

    var keyBytes: UnsafeRawBufferPointer {
        name.keep(Array(KeyName.text(present).utf8))
        return name.bytes
    }

    var valueContent: UnsafeRawBufferPointer? { hasContent ? content.bytes : nil }

    private var details: KeyMetadata? {
        do { _ = try load() } catch { failure = error }
        return known
    }

    var storesNumbersAsText: Bool { true }
    var spellsKeys: Bool { true }
    var key: String { KeyName.text(present) }
    var valueBytes: Int { details?.memory ?? 0 }
    var created: Timestamp { accessed }
    var accessed: Timestamp { details?.used ?? .now() }
    var expires: Timestamp? { details?.expires }
    var hits: UInt32 { UInt32(details?.frequency ?? 0) }
    var tier: Tier { .disk }
    var owner: String? { nil }
    var rank: Int? { nil }
    var recency: UInt64 { 0 }
    var sequence: UInt64 { 0 }
    var type: String? { details?.type }
    var layout: String? { details?.layout }

    var unknown: Set<QueryMetadata> {
        guard let unknown = details?.unknown, !unknown.isEmpty else { return [] }
        firstUnknown = firstUnknown ?? key
        return unknown
    }
}
