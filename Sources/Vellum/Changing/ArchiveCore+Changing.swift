import StorageEngine

/// Changes that count together or not at all, and ones that depend on what is there.
extension ArchiveCore {
    /// How long somebody tries who is always preceded by others.
    private static var patience: Int64 { 10_000_000 }

    /// Tries until there is a value, as long as others come first.
    /// - Throws: `busy` after ten seconds.
    func persist<Value>(_ subject: String?, _ attempt: () throws -> Value?) throws -> Value {
        var start: Int64?
        var attempts = 0
        while true {
            if let value = try attempt() { return value }
            attempts += 1
            shared.failures.withLock { $0.conflicts += 1 }
            let now = Archive.bootTime()
            guard now - (start ?? now) < Self.patience else { break }
            start = start ?? now
        }
        throw StorageError.busy(
            archive: archive.name, process: 0,
            reason: "others changed \(subject.map { "\"\($0)\"" } ?? "what a transaction reads") first, "
                + "\(attempts) times; try again")
    }

    /// Has `body` make changes, anew as long as others change what it has read before they are through.
    /// - Throws: `busy` after ten seconds; what `body` throws, and then nothing is changed; ``ArchiveError/changesItself(key:)``
    ///   where it is `body` that changes what it has read.
    func transact<Value>(
        _ subject: String?, _ body: (inout ArchiveTransaction<Object>) throws -> Value
    ) throws -> Value {
        let outer = OpenTransaction.innermost
        let own = OpenTransaction(of: self, in: outer)
        return try persist(subject) {
            var transaction = ArchiveTransaction(core: self)
            let value = try OpenTransaction.$innermost.withValue(own) { try body(&transaction) }
            if try transaction.commit() {
                outer?.note(transaction.order, of: self)
                return value
            }
            if let key = transaction.concerns(own.changedEachTime) {
                throw ArchiveError.changesItself(key: key.text)
            }
            return nil
        }
    }

    /// Tells the transactions from whose closures this is called that a key is changed.
    func noteWithin(_ name: String) {
        if let open = OpenTransaction.innermost {
            open.note([ExactText(name)], of: self, isTransaction: false)
        }
    }

    /// What memory has of an entry that others, or a batch, have changed is of no use any more.
    func noteChanged(_ name: String) throws {
        try withHashed(name) { try memory.forget($0, named: name) }
    }

    // MARK: Batches

    func record(all objects: [Object], _ terms: Terms) throws {
        try record(all: objects.map { try prepare($0) }, terms)
    }

    func record(all objects: [PreparedObject], _ terms: Terms) throws {
        guard !objects.isEmpty else { return }
        try transact(nil) { transaction in
            for object in objects { try transaction.store(object, terms) }
        }
    }

    func delete(all names: [String]) throws {
        guard !names.isEmpty else { return }
        try transact(nil) { transaction in
            for name in names { transaction.delete(archiveWithKey: name) }
        }
    }

    // MARK: One object

    /// What `change` made of the object of a key; `nil` if there is none.
    func modify(
        _ name: String, _ terms: Terms, _ change: (inout Object) throws -> Void
    ) throws -> Object? {
        try transact(name) { transaction in
            try transaction.access(archiveWithKey: name).map {
                try transaction.modify($0, name, terms, change)
            }
        }
    }

    /// The same with an object to begin with where there is none, or something that is no object (any more).
    func modify(
        _ name: String, default initial: () throws -> Object, _ terms: Terms,
        _ change: (inout Object) throws -> Void
    ) throws -> Object {
        try transact(name) { transaction in
            let present: Object?
            do {
                present = try transaction.access(archiveWithKey: name)
            } catch let error as ArchiveError where !error.isNewerVersion {
                noteUnreadable(name, error)
                present = nil
            }
            return try transaction.modify(present ?? initial(), name, terms, change)
        }
    }

    /// Stores the object if what is there is what was expected.
    func record(_ object: Object, _ terms: Terms, _ isExpected: (Object?) -> Bool) throws -> Bool {
        let name = object.primaryKey
        return try transact(name) { transaction in
            guard isExpected(try transaction.access(archiveWithKey: name)) else { return false }
            try transaction.store(object, terms)
            return true
        }
    }
}

/// A transaction whose closure runs, for those that begin within it: one that changes what an outer one has read makes that begin
/// anew, and again, for ever.
private final class OpenTransaction: Sendable {
    /// That of the code that runs.
    @TaskLocal static var innermost: OpenTransaction?

    private let archive: ObjectIdentifier
    private let outer: OpenTransaction?
    /// How often calls within it have changed a key.
    private let changes = Guarded<[ExactText: Int]>([:])
    /// One try may make a change that the next doesn't make again; so many don't end by themselves.
    private static let manyTries = 16

    /// What it doesn't leave alone long enough to be through.
    var changedEachTime: Set<ExactText> {
        changes.withLock { Set($0.filter { $0.value >= Self.manyTries }.keys) }
    }

    init(of archive: AnyObject, in outer: OpenTransaction?) {
        self.archive = ObjectIdentifier(archive)
        self.outer = outer
    }

    /// `isTransaction`: another transaction has changed them, of which one try is enough to tell.
    func note(_ keys: [ExactText], of archive: AnyObject, isTransaction: Bool = true) {
        if self.archive == ObjectIdentifier(archive) {
            let tries = isTransaction ? Self.manyTries : 1
            changes.withLock { changes in for key in keys { changes[key, default: 0] += tries } }
        }
        outer?.note(keys, of: archive, isTransaction: isTransaction)
    }
}
