import StorageEngine

/// An object of a near cache as it is stored under its key at a server: 18 bytes, the owner, and the encoded object. All numbers
/// are little-endian.
///
/// | byte | bytes | content |
/// | ---: | ---: | --- |
/// | 0 | 4 | `VLM1` |
/// | 4 | 4 | CRC32C of all that follows |
/// | 8 | 1 | encoding (``StorageEngine/ValueEncoding``) |
/// | 9 | 1 | length of the owner |
/// | 10 | 8 | maximum time in a process's memory in microseconds; 0: no limit |
/// | 18 | | the owner, then the object |
///
/// The object expires with the key.
package struct StoredObject: Sendable, Hashable {
    package var bytes: [UInt8]
    package var encoding: ValueEncoding
    /// Maximum time in each process's memory; nil: no limit.
    package var memoryLifetime: Duration?
    /// At most 255 bytes; nil: no owner.
    package var owner: String?

    package init(bytes: [UInt8], encoding: ValueEncoding, memoryLifetime: Duration?, owner: String?) {
        (self.bytes, self.encoding) = (bytes, encoding)
        (self.memoryLifetime, self.owner) = (memoryLifetime, owner)
    }

    private static let magic = Array("VLM1".utf8)
    /// Offsets of the owner's length and of the owner.
    package static let (lengthOffset, ownerOffset) = (9, 18)

    package var encoded: [UInt8] {
        let owner = Array((owner ?? "").utf8)
        var all: [UInt8] = []
        all.reserveCapacity(StoredObject.ownerOffset + owner.count + bytes.count)
        all += StoredObject.magic
        all += [0, 0, 0, 0, encoding.rawValue, UInt8(clamping: owner.count)]
        let interval = memoryLifetime.map { max(1, $0.clampedMicroseconds) } ?? 0
        all += (0..<8).map { UInt8(truncatingIfNeeded: interval >> ($0 * 8)) }
        all += owner
        all += bytes
        let sum = StoredObject.checksum(of: all)
        for place in 0..<4 { all[4 + place] = UInt8(truncatingIfNeeded: sum >> (UInt32(place) * 8)) }
        return all
    }

    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { Checksum.crc32c(UnsafeRawBufferPointer(rebasing: $0[8...])) }
    }

    package struct Problem: Error { package var reason: String }

    package static func hasMagic(_ bytes: [UInt8]) -> Bool {
        bytes.count >= ownerOffset && bytes.starts(with: magic)
    }

    package init(decoding bytes: [UInt8]) throws(Problem) {
        guard StoredObject.hasMagic(bytes) else { throw Problem(reason: "another program wrote it") }
        let number = { (range: Range<Int>) in
            bytes[range].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        guard UInt64(StoredObject.checksum(of: bytes)) == number(4..<8) else {
            throw Problem(reason: "its checksum is wrong")
        }
        let end = StoredObject.ownerOffset + Int(bytes[StoredObject.lengthOffset])
        guard let encoding = ValueEncoding(rawValue: bytes[8]), end <= bytes.count,
            let owner = String(validating: bytes[StoredObject.ownerOffset..<end], as: UTF8.self)
        else { throw Problem(reason: "a newer version of this library wrote it") }
        let interval = Int64(clamping: number(10..<18))
        self.init(
            bytes: Array(bytes[end...]), encoding: encoding,
            memoryLifetime: interval == 0 ? nil : .microseconds(interval), owner: owner.isEmpty ? nil : owner)
    }

    /// Maximum length of the header with the owner.
    package static let longestHead = ownerOffset + 255

    /// The owner in an object's first bytes; nil if it has none, or if the bytes aren't an object.
    package static func owner(ofHead bytes: [UInt8]) -> String? {
        guard hasMagic(bytes), bytes[lengthOffset] > 0 else { return nil }
        let end = min(bytes.count, ownerOffset + Int(bytes[lengthOffset]))
        return String(validating: bytes[ownerOffset..<end], as: UTF8.self)
    }
}
