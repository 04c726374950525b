import ValkeyWire
import VellumRemote

extension RemoteObject {
    /// - Parameter lifetime: the key's TTL.
    init(_ stored: StoredObject, lifetime: Duration?) {
        self.init(
            bytes: stored.bytes, encoding: stored.encoding, lifetime: lifetime,
            memoryLifetime: stored.memoryLifetime, owner: stored.owner)
    }

    var stored: StoredObject {
        StoredObject(bytes: bytes, encoding: encoding, memoryLifetime: memoryLifetime, owner: owner)
    }
}

extension StoredObject {
    /// Deletes the key if its object has this owner. Returns 1 if it is deleted, else 0 or -3.
    static let deleteIfOwned = ifOwned("redis.call('UNLINK', KEYS[1])")
    /// Returns the key's TTL in milliseconds if its object has this owner; -1: no expiry; else -3.
    static let lifeIfOwned = ifOwned("redis.call('PTTL', KEYS[1])")

    /// Calls GETRANGE with pcall, because another program may have stored another type.
    private static func ifOwned(_ action: String) -> String {
        """
        local head = redis.pcall('GETRANGE', KEYS[1], \(lengthOffset), \(ownerOffset - 1) + #ARGV[1])
        if type(head) == 'string' and string.byte(head) == #ARGV[1]
            and string.sub(head, \(ownerOffset - lengthOffset + 1)) == ARGV[1] then
            return \(action)
        end
        return -3
        """
    }

    /// Adds a name to an owner's set. Arguments: the object's expiry time, the name, the time before which other objects have expired,
    /// a random number, and `NX` to keep a present entry. The set expires a minute after its last object, because clocks differ.
    /// Deleted and evicted objects leave their names in the set. So for a new name in a large set, the script returns two other names to
    /// check; this keeps the share of stale names at about half.
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
