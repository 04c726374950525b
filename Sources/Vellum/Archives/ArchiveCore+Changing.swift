import StorageEngine

extension ArchiveCore {
    /// In microseconds.
    static var retryTimeout: Int64 { 10_000_000 }

    /// Retries until `attempt` returns a value; throws `busy` after ten seconds.
    func persist<Value>(_ subject: String?, _ attempt: () throws -> Value?) throws -> Value {
        var start: Int64?
        var attempts = 0
        while true {
            if let value = try attempt() { return value }
            attempts += 1
            shared.failures.withLock { $0.conflicts += 1 }
            let now = Archive.bootTime()
            guard now - (start ?? now) < Self.retryTimeout else { break }
            start = start ?? now
        }
        throw StorageError.busy(
            archive: archive.name, process: 0,
            reason: "conflicting changes of \(subject.map { "\"\($0)\"" } ?? "the input"), "
                + "\(attempts) times; try again")
    }

    /// Runs `body` and applies its changes, and repeats that if other writers change its input. Throws `busy` after ten
    /// seconds; the errors of `body`, and then nothing is changed; ``ArchiveError/changesItself(key:)`` if `body`
    /// changes its own input by another call.
    func transact<Value>(
        _ subject: String?, _ body: (inout ArchiveTransaction<Object>) throws -> Value
    ) throws -> Value {
        let outer = OpenTransaction.innermost
        let own = OpenTransaction(of: self, in: outer)
        return try persist(subject) {
            var transaction = ArchiveTransaction(core: self)
            let value = try OpenTransaction.$innermost.withValue(own) { try body(&transaction) }
            if try transaction.commit() {
                outer?.record(transaction.order, of: self)
                return value
            }
            if let key = transaction.concerns(own.changedEachTime) {
                throw ArchiveError.changesItself(key: key.text)
            }
            return nil
        }
    }

    func recordInOpenTransactions(_ name: String) {
        if let open = OpenTransaction.innermost {
            open.record([ExactText(name)], of: self, isTransaction: false)
        }
    }

    func dropFromMemory(_ name: String) throws { try withHashed(name) { try memory.forget($0, named: name) } }

    // MARK: Batches

    func record(all objects: [Object], _ options: ResolvedOptions) throws {
        try record(all: objects.map { try prepare($0) }, options)
    }

    func record(all objects: [PreparedObject], _ options: ResolvedOptions) throws {
        guard !objects.isEmpty else { return }
        try transact(nil) { transaction in
            for object in objects { try transaction.store(object, options) }
        }
    }

    func delete(all names: [String]) throws {
        guard !names.isEmpty else { return }
        try transact(nil) { transaction in
            for name in names { transaction.delete(archiveWithKey: name) }
        }
    }

    // MARK: One object

    func modify(_ name: String, _ options: ResolvedOptions, _ change: (inout Object) throws -> Void) throws
        -> Object?
    {
        try transact(name) { transaction in
            try transaction.access(archiveWithKey: name).map {
                try transaction.modify($0, name, options, change)
            }
        }
    }

    func modify(
        _ name: String, default initial: () throws -> Object, _ options: ResolvedOptions,
        _ change: (inout Object) throws -> Void
    ) throws -> Object {
        try transact(name) { transaction in
            let present: Object?
            do {
                present = try transaction.access(archiveWithKey: name)
            } catch let error as ArchiveError where !error.isNewerVersion {
                reportUnreadable(name, error)
                present = nil
            }
            return try transaction.modify(present ?? initial(), name, options, change)
        }
    }

    func record(_ object: Object, _ options: ResolvedOptions, _ isExpected: (Object?) -> Bool) throws -> Bool
    {
        let name = object.primaryKey
        return try transact(name) { transaction in
            guard isExpected(try transaction.access(archiveWithKey: name)) else { return false }
            try transaction.store(object, options)
            return true
        }
    }
}

/// A transaction whose closure is running. Detects a nested one that changes its input, which would never end.
private final class OpenTransaction: Sendable {
    @TaskLocal static var innermost: OpenTransaction?

    private let archive: ObjectIdentifier
    private let outer: OpenTransaction?
    private let changes = Guarded<[ExactText: Int]>([:])
    /// Number of retries that changed the same key, after which no further retry is tried.
    private static let manyTries = 16

    /// The keys that it changes in every retry, so that it can never complete.
    var changedEachTime: Set<ExactText> {
        changes.withLock { Set($0.filter { $0.value >= Self.manyTries }.keys) }
    }

    init(of archive: AnyObject, in outer: OpenTransaction?) {
        self.archive = ObjectIdentifier(archive)
        self.outer = outer
    }

    /// Records that nested code has changed these keys. A nested transaction that did ends this one at once.
    func record(_ keys: [ExactText], of archive: AnyObject, isTransaction: Bool = true) {
        if self.archive == ObjectIdentifier(archive) {
            let tries = isTransaction ? Self.manyTries : 1
            changes.withLock { changes in for key in keys { changes[key, default: 0] += tries } }
        }
        outer?.record(keys, of: archive, isTransaction: isTransaction)
    }
}
