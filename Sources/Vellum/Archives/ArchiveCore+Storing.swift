import StorageEngine

/// Later changes of the object don't affect it.
package struct PreparedObject: @unchecked Sendable {
    package let name: String
    package let encoded: EncodedObject
    package let kept: HeldObject
    let properties: [() -> Void]

    @inline(__always)
    package func storeProperties() {
        for store in properties { store() }
    }
}

/// Storing (S1, S4) in two steps: the first encodes the object on the caller's thread, the second may block.
extension ArchiveCore {
    func store(_ object: Object, _ options: ResolvedOptions) throws {
        let name = object.primaryKey
        try withHashed(name) { key in
            let prepared = try prepare(object, name, key)
            prepared.storeProperties()
            try put(prepared, key, options)
        }
    }

    package func prepare(_ object: Object) throws -> PreparedObject {
        let name = object.primaryKey
        return try withHashed(name) { try prepare(object, name, $0) }
    }

    func store(_ prepared: PreparedObject, _ options: ResolvedOptions) throws {
        prepared.storeProperties()
        try withHashed(prepared.name) { try put(prepared, $0, options) }
    }

    private func prepare(_ object: Object, _ name: String, _ key: HashedKey) throws -> PreparedObject {
        let encoded: EncodedObject
        do {
            encoded = try coder.encode(object)
        } catch {
            shared.failures.withLock { $0.unencodable += 1 }
            try archive.reportRejection(of: key, bytes: 0, .unencodable)
            throw ArchiveError.unencodable(
                type: readableName(of: Object.self), key: name, underlying: error)
        }
        return PreparedObject(
            name: name, encoded: encoded,
            kept: keepsObjects(encoded.isShared) ? HeldValue(object) : HeldObject(bytes: encoded.bytes),
            properties: encoded.properties.isEmpty ? [] : encoded.properties.map { preparedProperty($0) })
    }

    func put(_ prepared: PreparedObject, _ key: HashedKey, _ options: ResolvedOptions) throws {
        let options = options.completed(shared.standardLifetime)
        recordInOpenTransactions(prepared.name)
        if options.isUpdate {
            // If another process stored the key first, this becomes an update of its value.
            try persist(prepared.name) { try keep(prepared, key, options, put: update) ? () : nil }
        } else {
            _ = try keep(prepared, key, options, put: putAndHold)
        }
        // Afterwards, because a rejected object changes nothing.
        flights.outdate(prepared.name)
    }

    /// Stores an object if the entry is the one that ``version(toReplace:_:)`` found, and `flight` isn't outdated.
    func put(
        _ prepared: PreparedObject, _ options: ResolvedOptions, ifSequence sequence: UInt64?,
        of flight: Flight? = nil
    ) throws -> Bool {
        try withHashed(prepared.name) { key in
            try keep(prepared, key, options.completed(shared.standardLifetime)) {
                let (prepared, key, options, isOnlyHere) = ($0, $1, $2, $3)
                func store() throws -> HeldEntry? {
                    try update(prepared, key, options, isOnlyHere: isOnlyHere, ifSequence: sequence)
                }
                return try flight.map { try $0.unlessOutdated(store) } ?? store()
            }
        }
    }

    /// Whether an object is kept in memory only, because it exceeds the disk's limit but not memory's (S11).
    func isKeptOnlyHere(_ bytes: Int) throws -> Bool {
        try bytes > diskLimit && bytes <= archive.memoryLimit()
    }

    private typealias Put = (PreparedObject, HashedKey, ResolvedOptions, _ isOnlyHere: Bool) throws ->
        HeldEntry?

    private func keep(
        _ prepared: PreparedObject, _ key: HashedKey, _ options: ResolvedOptions, put: Put
    ) throws -> Bool {
        let bytes = prepared.encoded.bytes.count
        let start = shared.times.begin()
        defer { shared.times.end(.record, start) }
        let isOnlyHere = try isKeptOnlyHere(bytes)
        guard let held = try put(prepared, key, options, isOnlyHere) else { return false }
        try memory.keep(
            prepared.kept, key, named: prepared.name, held: held, bytes: bytes, origin: .recorded,
            isOnlyHere: isOnlyHere, atMost: shared.sliding?.pause(of: options.attributes.lifetime))
        if options.keepsLifetime, shared.sliding != nil { try slide(prepared.name) }
        return true
    }

    private func putAndHold(
        _ prepared: PreparedObject, _ key: HashedKey, _ options: ResolvedOptions, isOnlyHere: Bool
    ) throws -> HeldEntry? {
        let encoded = prepared.encoded
        if isOnlyHere {
            return try archive.recordInMemoryOnly(
                key, bytes: UInt64(encoded.bytes.count), attributes: options.attributes)
        }
        return try encoded.bytes.withUnsafeBytes {
            try archive.putAndHold(
                $0, forKey: key, encoding: encoded.encoding, attributes: options.attributes,
                keepsCreation: false)
        }
    }

    private func update(
        _ prepared: PreparedObject, _ key: HashedKey, _ options: ResolvedOptions, isOnlyHere: Bool
    ) throws -> HeldEntry? {
        let sequence = try version(toReplace: key, prepared.name)
        return try update(prepared, key, options, isOnlyHere: isOnlyHere, ifSequence: sequence)
    }

    private func update(
        _ prepared: PreparedObject, _ key: HashedKey, _ options: ResolvedOptions, isOnlyHere: Bool,
        ifSequence sequence: UInt64?
    ) throws -> HeldEntry? {
        let encoded = prepared.encoded
        return try encoded.bytes.withUnsafeBytes {
            try archive.updateToHold(
                isOnlyHere ? nil : $0, bytes: $0.count, forKey: key, encoding: encoded.encoding,
                attributes: options.attributes, keeping: options.kept, ifSequence: sequence)
        }
    }

    /// The entry's version for this process, or `nil`. Throws `newerVersion`, as only a `record` may replace it.
    func version(toReplace key: HashedKey, _ name: String) throws -> UInt64? {
        var sequence: UInt64?
        var newer: Int?
        let form = coder.form
        try archive.withPeekToHold(key) { bytes, held in
            sequence = held.sequence
            newer = form?.newerVersion(in: bytes)
        }
        if let newer {
            throw ArchiveError.newerVersion(
                type: readableName(of: Object.self), key: name, found: newer,
                known: form?.versions.current ?? 0)
        }
        return try sequence ?? memory.peekOnlyHere(key, named: name)?.sequence
    }

    /// Archivable properties have archives of their own. A failure there is only logged.
    private func preparedProperty(_ property: any Archivable) -> () -> Void {
        func prepared<Property: Archivable>(_ property: Property) throws -> () throws -> Void {
            let archives: ArchiveManager<Property> = try factory.archives(ArchiveRequest())
            let handle = archives.handle
            let prepared = try handle.perform { try $0.prepare(property) }
            return {
                try handle.perform { core in
                    if !isReplacing, try core.contains(prepared.name) { return }
                    try core.store(prepared, .updated())
                }
            }
        }
        let isReplacing = Object.archivePropertyBehavior == .replaceExisting
        let name = property.primaryKey
        do {
            let store = try prepared(property)
            return { [self] in
                do { try store() } catch { log("record a property", name, error) }
            }
        } catch {
            log("record a property", name, error)
            return {}
        }
    }
}
