import StorageEngine

extension ArchiveCore {
    package struct NearCopy: Sendable {
        package var bytes: [UInt8]
        package var sequence: UInt64
    }

    /// Doesn't count as an access.
    package func nearCopy(_ name: String) throws -> NearCopy? {
        try withHashed(name) { key in
            var copy: NearCopy?
            try archive.withPeekToHold(key) { copy = NearCopy(bytes: [UInt8]($0), sequence: $1.sequence) }
            return copy
        }
    }

    package func received(
        _ bytes: [UInt8], _ encoding: ValueEncoding, _ name: String
    ) throws -> PreparedObject {
        let decoded = try bytes.withUnsafeBytes { try shared.decode($0, name) }
        let isKept = keepsObjects(decoded.isShared)
        return PreparedObject(
            name: name,
            encoded: EncodedObject(
                bytes: bytes, encoding: encoding, isShared: decoded.isShared, properties: []),
            kept: isKept ? HeldValue(decoded.object) : HeldObject(bytes: bytes), properties: [])
    }

    /// Keeps a copy in both tiers (memory unless `isOutdated`), and returns its sequence; `nil`: too large for the disk.
    package func keepNear(
        _ prepared: PreparedObject, _ attributes: EntryAttributes, unless isOutdated: () -> Bool = { false }
    ) throws -> UInt64? {
        try withHashed(prepared.name) { key in
            let bytes = prepared.encoded.bytes
            guard try bytes.count <= diskLimit else {
                try archive.delete(prepared.name)
                return nil
            }
            let held = try bytes.withUnsafeBytes {
                try archive.putAndHold(
                    $0, forKey: key, encoding: prepared.encoded.encoding, attributes: attributes,
                    keepsCreation: false)
            }
            try memory.keep(
                prepared.kept, key, named: prepared.name, held: held, bytes: bytes.count, origin: .recorded,
                unless: isOutdated)
            return held.sequence
        }
    }

    /// Deletes a copy, unless it was replaced. Leaves memory first, even if the disk fails.
    package func dropNear(_ name: String, ifSequence sequence: UInt64) throws {
        try leaveMemory(name)
        _ = try archive.delete(name, ifSequence: sequence)
        try withHashed(name) { try memory.forget($0, named: name) }
    }

    package func leaveMemory(_ name: String) throws {
        try withHashed(name) { try memory.leave($0, named: name) }
    }

    /// Drops all objects from memory, and returns the slow remaining work, for any thread.
    package func leaveMemory() throws -> @Sendable () -> Void { try memory.leaveAll() }
}
