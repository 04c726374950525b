import StorageEngine
import VellumRemote

/// An object as it is stored under its key at a server: 18 bytes, the owner, and the encoded object. All numbers are little-endian.
///
/// | byte | bytes | content |
/// | ---: | ---: | --- |
/// | 0 | 4 | `VLM1` |
/// | 4 | 4 | CRC32C of all that follows |
/// | 8 | 1 | encoding (``StorageEngine/ValueEncoding``) |
/// | 9 | 1 | length of the owner |
/// | 10 | 8 | longest time in a process's memory in microseconds; 0: no limit |
/// | 18 | | the owner, then the object |
///
/// The time until it expires is that of the key.
enum StoredObject {
    private static let magic = Array("VLM1".utf8)
    private static let ownerOffset = 18

    static func encode(_ object: RemoteObject) -> [UInt8] {
        let owner = Array((object.owner ?? "").utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ownerOffset + owner.count + object.bytes.count)
        bytes += magic
        bytes += [0, 0, 0, 0, object.encoding.rawValue, UInt8(clamping: owner.count)]
        let interval = object.memoryLifetime.map { max(1, $0.clampedMicroseconds) } ?? 0
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: interval >> ($0 * 8)) }
        bytes += owner
        bytes += object.bytes
        let sum = checksum(of: bytes)
        for place in 0..<4 { bytes[4 + place] = UInt8(truncatingIfNeeded: sum >> (UInt32(place) * 8)) }
        return bytes
    }

    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { Checksum.crc32c(UnsafeRawBufferPointer(rebasing: $0[8...])) }
    }

    struct Problem: Error { var reason: String }

    static func decode(_ bytes: [UInt8]) throws(Problem) -> RemoteObject {
        guard bytes.count >= ownerOffset, bytes.starts(with: magic) else {
            throw Problem(reason: "another program wrote it")
        }
        let number = { (range: Range<Int>) in
            bytes[range].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        guard UInt64(checksum(of: bytes)) == number(4..<8) else {
            throw Problem(reason: "its checksum is wrong")
        }
        let end = ownerOffset + Int(bytes[9])
        guard let encoding = ValueEncoding(rawValue: bytes[8]), end <= bytes.count,
            let owner = String(validating: bytes[ownerOffset..<end], as: UTF8.self)
        else { throw Problem(reason: "a newer version of this library wrote it") }
        let interval = Int64(clamping: number(10..<18))
        return RemoteObject(
            bytes: Array(bytes[end...]), encoding: encoding,
            memoryLifetime: interval == 0 ? nil : .microseconds(interval), owner: owner.isEmpty ? nil : owner)
    }

    /// So many bytes of an object have its owner among them.
    static let longestHead = ownerOffset + 255

    /// The owner, of the first bytes; `nil` if there is none, or this is no object.
    static func owner(ofHead bytes: [UInt8]) -> String? {
        guard bytes.count > ownerOffset, bytes.starts(with: magic), bytes[9] > 0 else { return nil }
        let end = min(bytes.count, ownerOffset + Int(bytes[9]))
        return String(validating: bytes[ownerOffset..<end], as: UTF8.self)
    }

    /// Deletes the key if its object has this owner. Returns 1 then; else -3, or 0 if it was gone already.
    static let deleteIfOwned = ifOwned("redis.call('UNLINK', KEYS[1])")
    /// How long the key's object lives yet, in milliseconds, if it has this owner; -1: until it is deleted. Else -3.
    static let lifeIfOwned = ifOwned("redis.call('PTTL', KEYS[1])")

    /// Another program may have stored there what has no bytes.
    private static func ifOwned(_ action: String) -> String {
        """
        local head = redis.pcall('GETRANGE', KEYS[1], 9, \(ownerOffset - 1) + #ARGV[1])
        if type(head) == 'string' and string.byte(head) == #ARGV[1]
            and string.sub(head, \(ownerOffset - 8)) == ARGV[1] then
            return \(action)
        end
        return -3
        """
    }

    /// Adds a name to an owner's set. Its words: the time at which the object ends, the name, the time before which others have ended,
    /// a random number, and `NX` if one that is there is left alone. The set ends a minute after the last of its objects, because
    /// clocks differ. Objects that are deleted or evicted leave their names behind: if a name is added to many, two of
    /// these are returned, to be looked at; so no more than about half of them are names of nothing.
    static let noteOwned = """
        local isNew
        if ARGV[5] == 'NX' then isNew = redis.call('ZADD', KEYS[1], 'NX', ARGV[1], ARGV[2])
        else isNew = redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2]) end
        redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
        local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
        if last == 'inf' then redis.call('PERSIST', KEYS[1])
        elseif last then redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last + 60000)) end
        local count = redis.call('ZCARD', KEYS[1])
        if isNew == 0 or count < 32 then return {} end
        local place = ARGV[4] % (count - 1)
        return redis.call('ZRANGE', KEYS[1], place, place + 1)
        """
}
