import ValkeyWire
import VellumRemote

extension RemoteObject {
    /// - Parameter lifetime: of the key.
    init(_ stored: StoredObject, lifetime: Duration?) {
        self.init(
            bytes: stored.bytes, encoding: stored.encoding, lifetime: lifetime,
            memoryLifetime: stored.memoryLifetime, owner: stored.owner)
    }

    var stored: StoredObject {
        StoredObject(bytes: bytes, encoding: encoding, memoryLifetime: memoryLifetime, owner: owner)
    }
}

/// What a server does with objects itself.
extension StoredObject {
    /// Deletes the key if its object has this owner. Returns 1 then; else -3, or 0 if it was gone already.
    static let deleteIfOwned = ifOwned("redis.call('UNLINK', KEYS[1])")
    /// How long the key's object lives yet, in milliseconds, if it has this owner; -1: until it is deleted. Else -3.
    static let lifeIfOwned = ifOwned("redis.call('PTTL', KEYS[1])")

    /// Another program may have stored there what has no bytes.
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
