import StorageEngine

/// An object as it will be stored: whatever happens to the object afterwards changes nothing in it.
struct PreparedObject: @unchecked Sendable {
    let name: String
    let encoded: EncodedObject
    /// What memory will keep. An object itself is among it only if it is safe to share.
    let kept: HeldObject
    /// Stores the properties that have archives of their own.
    let properties: [() -> Void]
}

/// Storing (S1, S4), in two steps: the first reads the object, on its caller's thread; the second may wait.
extension ArchiveCore {
    func store(_ object: Object, _ terms: Terms) throws {
        let name = object.primaryKey
        try withHashed(name) { key in try put(prepare(object, name, key), key, terms) }
    }

    /// The object in its bytes.
    func prepare(_ object: Object) throws -> PreparedObject {
        let name = object.primaryKey
        return try withHashed(name) { try prepare(object, name, $0) }
    }

    func store(_ prepared: PreparedObject, _ terms: Terms) throws {
        try withHashed(prepared.name) { try put(prepared, $0, terms) }
    }

    private func prepare(_ object: Object, _ name: String, _ key: HashedKey) throws -> PreparedObject {
        let encoded: EncodedObject
        do {
            encoded = try coder.encode(object)
        } catch {
            shared.failures.withLock { $0.unencodable += 1 }
            try archive.noteRejection(of: key, bytes: 0, .unencodable)
            throw ArchiveError.unencodable(
                type: readableName(of: Object.self), key: name, underlying: error)
        }
        return PreparedObject(
            name: name, encoded: encoded,
            kept: keepsObjects(encoded.isShared) ? HeldValue(object) : HeldObject(bytes: encoded.bytes),
            properties: encoded.properties.isEmpty ? [] : encoded.properties.map { preparedProperty($0) })
    }

    private func put(_ prepared: PreparedObject, _ key: HashedKey, _ terms: Terms) throws {
        for store in prepared.properties { store() }
        let terms = terms.completed(shared.standardLifetime)
        let bytes = prepared.encoded.bytes.count
        // What only the disk has no room for is kept in memory alone (S11).
        let isOnlyHere = try bytes > diskLimit && bytes <= archive.memoryLimit()
        let held =
            isOnlyHere
            ? try recordInMemoryOnly(key, bytes: UInt64(bytes), terms)
            : try putToHold(prepared.encoded, key, terms)
        try memory.keep(
            prepared.kept, key, named: prepared.name, held: held, bytes: bytes, origin: .recorded,
            isOnlyHere: isOnlyHere, atMost: shared.sliding?.pause)
        if terms.isUpdate, shared.sliding != nil { try slide(prepared.name) }
    }

    private func putToHold(
        _ encoded: EncodedObject, _ key: HashedKey, _ terms: Terms
    ) throws -> HeldEntry {
        try encoded.bytes.withUnsafeBytes { value in
            guard terms.kept.isEmpty else {
                return try archive.updateToHold(
                    value, forKey: key, encoding: encoded.encoding, attributes: terms.attributes,
                    keeping: terms.kept)
            }
            return try archive.putToHold(
                value, forKey: key, encoding: encoded.encoding, attributes: terms.attributes,
                keepsCreation: terms.isUpdate)
        }
    }

    private func recordInMemoryOnly(_ key: HashedKey, bytes: UInt64, _ terms: Terms) throws -> HeldEntry {
        guard terms.kept.isEmpty else {
            return try archive.updateInMemoryOnly(
                key, bytes: bytes, attributes: terms.attributes, keeping: terms.kept)
        }
        return try archive.recordInMemoryOnly(key, bytes: bytes, attributes: terms.attributes)
    }

    /// Properties that are archivable have archives of their own. That one of them could not be stored keeps nobody
    /// from storing the object.
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
