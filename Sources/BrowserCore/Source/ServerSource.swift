import ArchiveQuery
import Foundation
import ServerInspection
import StorageEngine
import StoreInspection

/// Shows a Valkey or Redis server as a store with its databases as archives. One connection serves one request at a time.
package final class ServerSource: QueriedSource {
    private let address: ServerAddress
    private let connection: ServerConnection
    package let remembers: EngineSource?
    /// The store of undo records; nil without a place for it.
    private let undoFolder: String?
    /// Whether a server on another machine may be changed.
    let allowsWriting: Bool
    private let state = Guarded(State())

    private struct State {
        /// The last figures, and when they were read.
        var figures: (StoreFigures, Timestamp)?
        var isReadOnly: Bool?
        var value: (key: String, archive: ArchiveAddress, SeenValue)?
        /// The server's run at the last list or query. Only keys of this run are changed.
        var run: String?
        /// The scan under way, or stopped at `end`, which the next list continues.
        var scan: (database: Int, keys: ListingScan, end: Timestamp?)?
        /// Keys whose values may be read although that counts as an access.
        var allowed: Set<EntryAddress> = []
        var allowsAll = false

        /// The scan of a database, unless it was stopped long ago.
        func scan(of database: Int) -> ListingScan? {
            guard let scan, scan.database == database else { return nil }
            let isRecent = scan.end.map { abs(Timestamp.now().seconds(since: $0)) < ServerSource.continued }
            return isRecent == false ? nil : scan.keys
        }
    }

    private struct SeenValue {
        var content: ServerValue
        var facts: KeyMetadata
        var entry: EntryMetadata
        var read: Timestamp
    }

    private static let block = 64
    /// Seconds between reads of `INFO`.
    private static let fresh = 1.0
    /// Seconds after which a stopped scan isn't continued.
    private static let continued = 5.0

    /// - Parameters:
    ///   - remembers: stores history and choices.
    ///   - allowsWriting: whether a server on another machine may be changed.
    package init(
        _ address: ServerAddress, remembers: EngineSource, undoFolder: String?, allowsWriting: Bool = false
    ) {
        (self.address, self.remembers, self.undoFolder) = (address, remembers, undoFolder)
        self.allowsWriting = allowsWriting
        connection = ServerConnection(address)
    }

    private init(_ other: ServerSource, remembers: EngineSource?, undoFolder: String?) {
        (address, connection) = (other.address, other.connection)
        (self.remembers, self.undoFolder, allowsWriting) = (remembers, undoFolder, other.allowsWriting)
    }

    /// Another view of the server over the same connection.
    package func remembering(by remembers: EngineSource, undoFolder: String?) -> ServerSource {
        ServerSource(self, remembers: remembers, undoFolder: undoFolder)
    }

    package func connect() throws(SourceError) { _ = try connection.capabilities() }

    /// Closes the connection; a later request opens another.
    package func disconnect() { connection.close() }

    package var folder: String { address.description }

    package func stores() throws(SourceError) -> StoreList {
        let name = StorePath.name(address.description)
        var summary = StoreSummary(name: name, path: address.description)
        do throws(SourceError) {
            summary.add(try figures(store: address.description))
        } catch {
            summary.problem = error.description
        }
        var others = remembers?.storesElsewhere() ?? []
        if let place = others.firstIndex(where: { $0.path == summary.path }) {
            summary.isFavorite = others.remove(at: place).isFavorite
        }
        return StoreList([summary] + others)
    }

    // MARK: Figures

    package func figures(store: String) throws(SourceError) -> StoreFigures {
        guard store == folder else { throw SourceError("\(store) is not this server") }
        if let (figures, read) = state.withLock({ $0.figures }),
            abs(Timestamp.now().seconds(since: read)) < ServerSource.fresh
        {
            return figures
        }
        let server = try connection.figures()
        var whole = ArchiveSample(name: "server", kind: .cache)
        whole.memoryBytes = server.memory
        whole.memoryLimit = server.memoryLimit
        whole.diskLimit = nil
        whole.hits = server.hits
        whole.misses = server.misses
        whole.evictions = server.evictions
        whole.expirations = server.expirations
        whole.records = server.commands - min(server.commands, server.hits + server.misses)
        let capabilities = try connection.capabilities()
        let archives = server.databases.map { database in
            var sample = ArchiveSample(name: database.name, kind: .collection)
            sample.identity = Array(capabilities.run.utf8)
            sample.entries = database.keys
            sample.diskLimit = nil
            sample.memoryLimit = nil
            return sample
        }
        whole.entries = archives.reduce(0) { $0 + $1.entries }
        var figures = StoreFigures(
            archives: archives, ownPid: getpid(), absence: "\(server.clients) clients are connected.")
        figures.server = server
        figures.unreported = Set(
            QueryMetadata.allCases.filter { capabilities.unsupportedReason(for: [.metadata($0)]) != nil })
        figures.unreadableReason = capabilities.unreadableReason
        if let known = state.withLock({ $0.isReadOnly }) {
            figures.isReadOnly = known
        } else if !allowsWriting {
            figures.isReadOnly = try !connection.isOnThisMachine()
        }
        figures.ownAccesses = server.own.hits + server.own.misses
        figures.whole = whole
        state.withLock { ($0.figures, $0.isReadOnly) = ((figures, .now()), figures.isReadOnly) }
        return figures
    }

    package func serverActivity() throws(SourceError) -> ServerActivity? {
        ServerActivity(clients: try connection.clients(), slow: try connection.slowCommands())
    }

    private func database(_ archive: ArchiveAddress) throws(SourceError) -> Int {
        guard let number = ServerFigures.number(ofDatabase: archive.name) else {
            throw SourceError("\(archive.name) is not a database of \(address): use db0, db1 …")
        }
        return number
    }

    // MARK: Keys

    package func listing(
        in archive: ArchiveAddress, holding text: String, loadsMetadata: Bool = false,
        while shouldContinue: (Int) -> Bool
    ) throws(SourceError) -> (any EntryListing)? {
        try noteRun()
        let number = try database(archive)
        if !text.isEmpty {
            let pattern = ServerScan.pattern(holding: text)
            return try ServerListing(
                ListingScan(connection, database: number, matching: pattern), while: shouldContinue)
        }
        let scan = state.withLock { state in
            let scan = state.scan(of: number) ?? ListingScan(connection, database: number)
            state.scan = (number, scan, nil)
            return scan
        }
        var end: Timestamp?
        defer { state.withLock { $0.scan = end.map { (number, scan, $0) } } }
        let listing = try ServerListing(scan, loadsMetadata: loadsMetadata, while: shouldContinue)
        if listing == nil { end = .now() }
        return listing
    }

    private func noteRun() throws(SourceError) {
        let run = try connection.capabilities().run
        state.withLock { $0.run = run }
    }

    package func listing(in archive: ArchiveAddress) throws(SourceError) -> any EntryListing {
        guard let listing = try listing(in: archive, holding: "", while: { _ in true }) else {
            throw SourceError("the scan was stopped")
        }
        return listing
    }

    package func recentEntries(
        _ most: Int, in archive: ArchiveAddress
    ) throws(SourceError) -> any EntryListing {
        let number = try database(archive)
        if let scan = state.withLock({ $0.scan(of: number) }), scan.count >= most {
            return ServerListing(found: scan)
        }
        let listing = try ServerListing(
            ListingScan(connection, database: number), most: most, isPaced: false)
        guard let listing else { throw SourceError("the scan was stopped") }
        return listing
    }

    package func columns(of archive: ArchiveAddress) throws(SourceError) -> ChosenColumns? {
        try remembers?.columns(of: archive)
            ?? ChosenColumns(
                archive: archive.name, properties: [.metadata(.type), .metadata(.encoding)], hidden: [])
    }

    // MARK: Values

    private func unreadableReason() throws(SourceError) -> String? {
        try connection.capabilities().unreadableReason
    }

    package func allowUse(of key: String?, in archive: ArchiveAddress) {
        state.withLock {
            if let key { $0.allowed.insert(EntryAddress(key, in: archive)) } else { $0.allowsAll = true }
            // Otherwise, an access by another client shortly after the last read would look like this one's.
            $0.value = nil
        }
    }

    package func entry(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> EntryMetadata? {
        try value(key, in: archive)?.entry
    }

    package func contains(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> Bool {
        try facts(of: key, in: archive) != nil
    }

    package func targets(_ keys: [String], in archive: ArchiveAddress) throws(SourceError) -> [Target] {
        let number = try database(archive)
        var targets: [Target] = []
        for start in stride(from: 0, to: keys.count, by: ServerSource.block) {
            let names = keys[start..<min(keys.count, start + ServerSource.block)].map(KeyName.bytes)
            let found = try connection.paced(try connection.facts(of: names, in: number))
            targets += zip(names, found).compactMap { $1?.metadata(of: $0, at: .now()).target }
        }
        return targets
    }

    private func facts(of key: String, in archive: ArchiveAddress) throws(SourceError) -> KeyMetadata? {
        try connection.facts(of: [KeyName.bytes(key)], in: database(archive))[0]
    }

    package func bytes(
        _ key: String, range: Range<Int>, in archive: ArchiveAddress
    ) throws(SourceError) -> [UInt8]? {
        guard let bytes = try value(key, in: archive)?.content.bytes else { return nil }
        return Array(bytes[range.clamped(to: 0..<bytes.count)])
    }

    package func serverFacts(of key: String, in archive: ArchiveAddress) -> ServerValueFacts? {
        seen(key, in: archive).map { seen in
            let (content, type) = (seen.content, seen.facts.type)
            let remarks = [content.origin, content.shortage, content.doubt].compactMap { $0 }
            // Accesses by other clients are unknown under an LFU policy; otherwise they may look like this client's read.
            let countsReads = ((try? unreadableReason()) ?? nil) != nil
            return ServerValueFacts(
                remark: remarks.isEmpty ? nil : remarks.joined(separator: "; "),
                typeName: type == "string" ? nil : type, memory: seen.facts.memory,
                read: countsReads ? seen.read : nil)
        }
    }

    private func seen(_ key: String, in archive: ArchiveAddress) -> SeenValue? {
        state.withLock { state in
            state.value.flatMap { $0.archive == archive && ExactText($0.key) == ExactText(key) ? $0.2 : nil }
        }
    }

    /// The value with its metadata; the last value is reused if it is unchanged.
    private func value(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> SeenValue? {
        let number = try database(archive)
        let name = KeyName.bytes(key)
        guard let facts = try connection.facts(of: [name], in: number)[0] else { return nil }
        let now = Timestamp.now()
        let before = seen(key, in: archive)
        var entry = facts.metadata(of: name, at: now)
        if var before, before.entry.recency == entry.sequence, isUnused(facts, since: before.read) {
            before.entry.expires = entry.expires
            before.entry.accessed = entry.accessed
            return before
        }
        let isAllowed = state.withLock { $0.allowsAll || $0.allowed.contains(EntryAddress(key, in: archive)) }
        if !isAllowed, let reason = try unreadableReason() {
            throw SourceError("\(reason); open the value to allow that.")
        }
        guard let content = try connection.value(of: name, type: facts.type, in: number) else { return nil }
        var hasher = Hasher()
        content.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        (entry.recency, entry.sequence) = (entry.sequence, UInt64(bitPattern: Int64(hasher.finalize())) | 1)
        entry.valueBytes = content.bytes.count
        entry.encoding = content.encoding
        entry.owner = content.owner
        let seen = SeenValue(content: content, facts: facts, entry: entry, read: now)
        state.withLock { $0.value = (key, archive, seen) }
        return seen
    }

    /// Whether no access to the key since then is known. Servers report access times in seconds.
    private func isUnused(_ facts: KeyMetadata, since moment: Timestamp) -> Bool {
        let countsReads = ((try? unreadableReason()) ?? nil) != nil
        if Timestamp.now().seconds(since: moment) < 0.5 { return true }
        // Under an LFU policy the access time is unknown. If reads count as accesses, the value is then read again only on request.
        guard let used = facts.used else { return countsReads }
        // If reads count as accesses, the latest one may be this client's read, up to 1.5 s after `moment`.
        return used.seconds(since: moment) < (countsReads ? 1.5 : -1)
    }

    // MARK: Queries

    func plan(_ request: QueryRequest) throws(SourceError) -> QueryPlan {
        let plan = QueryPlan(request.pipeline)
        if request.allowsAccesses { return plan }
        var shown = plan.pipeline.stages.flatMap(\.properties)
        shown += [.metadata(.type), .metadata(.size)]
        var columns = [QueryColumn(.metadata(.key), as: "key")]
        for property in shown where property != .metadata(.key) && !columns.map(\.property).contains(property)
        {
            columns.append(QueryColumn(property))
        }
        if let plan = try connection.capabilities().withoutAccesses(plan, showing: columns) { return plan }
        let reason = try unreadableReason() ?? ""
        throw SourceError(
            "\(reason), and the conditions read every value; use @key, @size and other metadata",
            isAccessRefusal: true)
    }

    func run(
        _ plan: QueryPlan, _ request: QueryRequest, _ progress: (Double) -> Bool,
        _ body: (PassingRow) throws -> Void
    ) throws(SourceError) -> QueryReport? {
        try noteRun()
        let source = try ServerQuery(connection, database: database(request.archive), for: plan.pipeline)
        var report = try plan.run(over: source, progress: progress, damage: { nil }, body)
        if plan.readsValues != QueryPlan(request.pipeline).readsValues {
            report?.warnings.append("values are not read here: that would count as an access to each key")
        }
        return report
    }

    package func properties(in archive: ArchiveAddress) throws(SourceError) -> PropertySample {
        // Completion of names doesn't justify accesses to keys.
        if try unreadableReason() != nil { return PropertySample() }
        let source = try ServerQuery(connection, database: database(archive), for: QueryPipeline([]))
        do { return try PropertySample(of: source) } catch { throw SourceError("\(error)") }
    }

    // MARK: Changes

    package var storesJSON: Bool { true }

    package func readOnlyReason(_ key: String, in archive: ArchiveAddress) -> SourceError? {
        do throws(SourceError) {
            let facts = try facts(of: key, in: archive)
            guard let facts, facts.type != "string" else { return nil }
            return ServerConnection.uneditableReason(type: facts.type)
        } catch {
            return error
        }
    }

    package func stored(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> StoredValue? {
        guard let value = try value(key, in: archive) else { return nil }
        guard value.facts.type == "string" else { throw SourceError("The key has another type now.") }
        if value.content.origin != nil { throw SourceError("Objects of near caches can't be edited.") }
        if let shortage = value.content.shortage {
            throw SourceError("Can't read the whole value: \(shortage).")
        }
        return StoredValue(
            value.content.bytes, encoding: value.entry.encoding, sequence: value.entry.sequence,
            created: value.entry.created)
    }

    package func stored(
        _ element: ValueElement, of key: String, in archive: ArchiveAddress
    ) throws(SourceError) -> StoredValue? {
        try connection.bytes(of: element, at: KeyName.bytes(key), in: database(archive)).map { bytes in
            let encoding = if case .score = element { ValueEncoding.text } else { ValueEncoding.unknown }
            return StoredValue(bytes, encoding: encoding, sequence: 0, created: Timestamp(microseconds: 0))
        }
    }

    package func store(_ edit: StoredEdit, in archive: ArchiveAddress) throws(SourceError) -> Carried<Bool> {
        let entry = EntryAddress(edit.key, in: archive)
        return Carried(try store(edit.bytes, edit.element, of: entry, replacing: edit.replacing?.bytes))
    }

    package func change(
        _ element: ValueElement, of entry: EntryAddress, from former: [UInt8]?, to bytes: [UInt8]?
    ) throws(SourceError) -> Bool { try store(bytes, element, of: entry, replacing: former) }

    private func store(
        _ bytes: [UInt8]?, _ element: ValueElement?, of entry: EntryAddress, replacing former: [UInt8]?
    ) throws(SourceError) -> Bool {
        defer { state.withLock { ($0.figures, $0.value) = (nil, nil) } }
        return try changes(in: entry.archive, writesUndo: false).store(
            bytes, at: KeyName.bytes(entry.key), element, replacing: former, in: state.withLock { $0.run })
    }

    private func changes(
        in archive: ArchiveAddress, writesUndo: Bool = true
    ) throws(SourceError) -> ServerChanges {
        if writesUndo, undoFolder == nil {
            throw SourceError("no folder for undo records: neither XDG_STATE_HOME nor HOME is set")
        }
        return ServerChanges(address, database: try database(archive), undoFolder: undoFolder ?? "")
    }

    package func carryOut(
        _ action: PlannedAction, on targets: [Target], in archive: ArchiveAddress,
        checkpoint: (Int) -> Bool
    ) throws(SourceError) -> Carried<PlanOutcome> {
        defer { state.withLock { $0.figures = nil } }
        return try changes(in: archive).carryOut(
            action, on: targets, in: state.withLock { $0.run }, checkpoint: checkpoint)
    }

    package func undo(
        _ action: ReversibleAction, in archive: ArchiveAddress, checkpoint: (Double) -> Bool
    ) throws(SourceError) -> Carried<UndoOutcome>? {
        defer { state.withLock { $0.figures = nil } }
        return try changes(in: archive).undo(action.id, begun: action.time, checkpoint: checkpoint)
    }

    package func reversible(in archive: ArchiveAddress) throws(SourceError) -> [ReversibleAction] {
        undoFolder == nil ? [] : try changes(in: archive).reversible()
    }
}

/// Functions of stores and ring files only.
extension ServerSource {
    package func messages(
        count: Int, behind: Int, at moment: LogMoment, limit: Int, in archive: ArchiveAddress
    ) throws(SourceError) -> LogBatch { LogBatch() }
}
