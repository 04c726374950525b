import CBOR

/// The version number: the first encoded property, `"$version": 2`, which no property can be named; without it 0.
struct StoredForm: Sendable {
    static let name = "$version"

    let versions: ArchiveVersions

    init(of type: Any.Type) {
        versions = (type as? any ArchiveVersioned.Type)?.archiveVersions ?? ArchiveVersions()
    }

    // MARK: Storing

    func numbered(_ bytes: [UInt8]) throws -> [UInt8] {
        guard versions.current > 0 else { return bytes }
        return try bytes.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            guard case .map(let count?) = try reader.readHead() else { throw ArchiveError.noProperties }
            var writer = CBORWriter(capacity: bytes.count + 16)
            writer.beginMap(count: count + 1)
            writer.write(Self.name)
            writer.write(unsigned: UInt64(versions.current))
            return writer.bytes + bytes[reader.offset...]
        }
    }

    // MARK: Reading

    /// Calls `body` with the bytes in the present version; `isMigrated` if these aren't the stored ones.
    @inline(__always)
    func withPresent<Value>(
        _ bytes: UnsafeRawBufferPointer, type: Any.Type, key: String,
        _ body: (_ bytes: UnsafeRawBufferPointer, _ isMigrated: Bool) throws -> Value
    ) throws -> Value {
        guard isNumbered(bytes) else { return try body(bytes, false) }
        let version = Self.version(of: bytes)
        guard version <= versions.current else {
            throw ArchiveError.newerVersion(
                type: readableName(of: type), key: key, found: version, known: versions.current)
        }
        let isMigrated = version < versions.current
        return try (isMigrated ? migrated(bytes, from: version) : plain(bytes)).withUnsafeBytes {
            try body($0, isMigrated)
        }
    }

    private func migrated(_ bytes: UnsafeRawBufferPointer, from version: Int) throws -> [UInt8] {
        var properties = try ArchivedProperties(CBORReader.decode(bytes))
        properties[Self.name] = nil
        try versions.migrate(&properties, from: version)
        return CBORValue.map(properties.map).encoded
    }

    private func plain(_ bytes: UnsafeRawBufferPointer) throws -> [UInt8] {
        var reader = CBORReader(bytes)
        guard Self.beginsWithNumber(bytes), case .map(let count?) = try reader.readHead() else {
            return try migrated(bytes, from: versions.current)
        }
        try reader.skipItem()
        try reader.skipItem()
        var writer = CBORWriter(capacity: bytes.count)
        writer.beginMap(count: count - 1)
        return writer.bytes + bytes[reader.offset...]
    }

    func newerVersion(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard isNumbered(bytes) else { return nil }
        let version = Self.version(of: bytes)
        return version > versions.current ? version : nil
    }

    func isPresent(_ bytes: UnsafeRawBufferPointer) -> Bool {
        !isNumbered(bytes) || Self.version(of: bytes) == versions.current
    }

    /// Whether the value may have a version number: if the type has versions, or the number is the first property.
    @inline(__always)
    private func isNumbered(_ bytes: UnsafeRawBufferPointer) -> Bool {
        versions.current > 0 || Self.beginsWithNumber(bytes)
    }

    @inline(__always)
    private static func beginsWithNumber(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first, first >> 5 == 5 else { return false }
        // A map of fewer than 24 entries, or of indefinite length, has a one-byte head.
        let head =
            switch first & 0x1f {
            case 24: 2
            case 25: 3
            case 26: 5
            case 27: 9
            default: 1
            }
        // A text of 8 bytes, "$version".
        return bytes.count > head + 9 && bytes[head] == 0x68
            && bytes.loadUnaligned(fromByteOffset: head + 1, as: UInt64.self)
                == UInt64(bigEndian: 0x2476_6572_7369_6f6e)
    }

    private static func version(of bytes: UnsafeRawBufferPointer) -> Int {
        var reader = CBORReader(bytes)
        guard (try? reader.enterMap(atKey: name)) == true,
            case .unsigned(let version)? = try? reader.readHead()
        else { return 0 }
        return Int(clamping: version)
    }
}
