/// An archive's identity, secret and configuration: the file `descriptor`, replaced by renaming. OnDiskFormat, "Descriptors".
struct Descriptor: Equatable {
    static let fileName = "descriptor"
    /// A file that reserves space for the next descriptor.
    static let spareName = "descriptor.spare"
    static let magic: [UInt8] = Array("VLMARCHV".utf8)
    /// The versions that this program reads. It writes the lowest with which earlier programs use the archive correctly.
    static let versions: ClosedRange<UInt32> = 1...2
    static let maximumBytes = 4096

    var identity: [UInt8]
    var hashKey: [UInt8]
    var created: Int64
    var name: String
    var configuration: ArchiveConfiguration

    private static let unlimited = UInt64.max

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(Descriptor.magic)
        let policy = configuration.evictionPolicy
        writer.append(policy == .lru ? Descriptor.versions.lowerBound : Descriptor.versions.upperBound)
        writer.append(configuration.kind.rawValue)
        writer.append(UInt8(configuration.durability.level.rawValue) | policy.rawValue << 4)
        writer.append(configuration.durability.tenths)
        writer.append(identity)
        writer.append(hashKey)
        writer.append(UInt64(bitPattern: created))
        writer.append(configuration.diskLimit ?? Descriptor.unlimited)
        writer.append(configuration.memoryLimit ?? Descriptor.unlimited)
        writer.append(UInt16(name.utf8.count))
        writer.append(UInt16(configuration.typeName.utf8.count))
        writer.append(Array(name.utf8))
        writer.append(Array(configuration.typeName.utf8))
        writer.append(Checksum.crc32c(writer.bytes))
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8], path: String) throws(StorageError) -> Descriptor {
        func damaged(_ reason: String, at offset: Int = 0) -> StorageError {
            .corrupted(path: path, offset: offset, reason: reason)
        }
        guard bytes.count >= 80 else { throw damaged("ends inside the archive descriptor", at: bytes.count) }
        var reader = ByteReader(bytes)
        guard reader.take(8) == magic else { throw damaged("not an archive descriptor") }
        let version = reader.uint32()
        // The checksum is at the same offset in every version: one wrong bit must not look like a newer program's file.
        var sum = ByteReader(Array(bytes[(bytes.count - 4)...]))
        guard sum.uint32() == Checksum.crc32c(Array(bytes[..<(bytes.count - 4)])) else {
            throw damaged("the archive descriptor fails its checksum")
        }
        guard versions.contains(version) else {
            throw .unsupportedVersion(path: path, found: version, supported: versions.upperBound)
        }
        let kindNumber = reader.take(1)[0]
        let settings = reader.take(1)[0]
        let (levelNumber, policyNumber) = version == 1 ? (settings, 0) : (settings & 15, settings >> 4)
        let tenths = reader.uint16()
        let identity = reader.take(16)
        let hashKey = reader.take(16)
        let created = Int64(bitPattern: reader.uint64())
        let disk = reader.uint64()
        let memory = reader.uint64()
        let nameBytes = Int(reader.uint16())
        let typeBytes = Int(reader.uint16())
        let total = 76 + nameBytes + typeBytes + 4
        guard bytes.count == total else {
            throw damaged("has the wrong length for its names", at: bytes.count)
        }
        let name = String(validating: reader.take(nameBytes), as: UTF8.self)
        let type = String(validating: reader.take(typeBytes), as: UTF8.self)
        guard let kind = ArchiveKind(rawValue: kindNumber) else {
            throw damaged("unknown kind of archive (\(kindNumber))", at: 12)
        }
        guard let durability = Durability(level: UInt32(levelNumber), tenths: tenths) else {
            throw damaged("unknown level of durability (\(levelNumber))", at: 13)
        }
        guard let policy = EvictionPolicy(rawValue: policyNumber) else {
            throw damaged("unknown eviction policy (\(policyNumber))", at: 13)
        }
        guard let name, let type else { throw damaged("a name is not UTF-8", at: 76) }
        var configuration = ArchiveConfiguration(
            kind: kind, diskLimit: disk == unlimited ? nil : disk,
            memoryLimit: memory == unlimited ? nil : memory, typeName: type, durability: durability)
        configuration.evictionPolicy = policy
        return Descriptor(
            identity: identity, hashKey: hashKey, created: created, name: name, configuration: configuration)
    }

    func hash(salt: UInt64) -> KeyHash {
        var reader = ByteReader(hashKey)
        return KeyHash(secret: (reader.uint64(), reader.uint64()), salt: salt)
    }
}

/// Archive names and the folders that hold them. Rules: OnDiskFormat, "Folders".
package enum ArchiveName {
    static let maximumBytes = 80
    static let folderSuffix = ".archive"

    static func validate(_ name: String) throws(StorageError) {
        guard !name.isEmpty else {
            throw .invalidArchiveName(reason: "it is empty; use 1 to 80 bytes of UTF-8")
        }
        guard name.utf8.count <= maximumBytes else {
            throw .invalidArchiveName(reason: "\(name.utf8.count) bytes; use at most \(maximumBytes)")
        }
        guard !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
            throw .invalidArchiveName(reason: "it contains a control character")
        }
    }

    /// Like ``validate(_:)`` for the name of a new archive. Archives that were created before this rule stay usable.
    static func validate(new name: String) throws(StorageError) {
        try validate(name)
        let refused = name.unicodeScalars.first { scalar in
            let kinds: [Unicode.GeneralCategory] = [.control, .lineSeparator, .paragraphSeparator]
            return scalar.properties.isBidiControl || kinds.contains(scalar.properties.generalCategory)
        }
        guard let refused else { return }
        let number = String(refused.value, radix: 16, uppercase: true)
        throw .invalidArchiveName(reason: "it contains the control character U+\(number); use another name")
    }

    /// Letters, digits, `-` and `_` stay; every other byte becomes `%` and two hexadecimal digits.
    package static func folder(for name: String) -> String {
        var folder = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                folder.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                folder += "%" + byte.hexadecimal
            }
        }
        return folder + folderSuffix
    }

    package static func name(ofFolder folder: String) -> String? {
        guard folder.hasSuffix(folderSuffix) else { return nil }
        var bytes: [UInt8] = []
        var rest = folder.dropLast(folderSuffix.count).utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2,
                    let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        guard let name = String(validating: bytes, as: UTF8.self), (try? validate(name)) != nil,
            self.folder(for: name) == folder
        else { return nil }
        return name
    }

    static func isStray(folder: String) -> Bool {
        folder.hasSuffix(folderSuffix) && name(ofFolder: folder) == nil
    }
}

extension Descriptor {
    static func read(in folder: FileDescriptor) throws(StorageError) -> Descriptor {
        guard try folder.hasEntry(named: fileName) else {
            // Removing an archive renames its folder, and then removes its files one by one.
            guard try folder.isInItsPlace else {
                throw .fromErrno(SystemCode.missing, operation: "open", path: folder.path + "/" + fileName)
            }
            throw .corrupted(
                path: folder.path + "/" + fileName, offset: 0,
                reason: "the archive's descriptor is missing; restore it, or move the folder away")
        }
        let file = try folder.file(named: fileName, writable: false)
        return try decode(file.read(atMost: maximumBytes), path: file.path)
    }
}
