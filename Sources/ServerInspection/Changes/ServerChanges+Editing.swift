import StoreInspection
import ValkeyWire

extension ServerChanges {
    /// Stores a string if the key's value is still equal to `former`; nil: if the key is absent. Keeps the expiry time, and writes
    /// no undo record. Reads the former value, which is an access to the key.
    /// - Parameter run: the run of the server where the key was found; nil: any.
    /// - Returns: false if another client changed, removed or created the key; nothing was stored.
    package func store(
        _ bytes: [UInt8], at key: [UInt8], replacing former: [UInt8]?, in run: String? = nil
    ) throws(SourceError) -> Bool {
        let traits = try connection.traits()
        guard run == nil || run == traits.run else { throw connection.anotherServer }
        let times = try deadlines(of: [key], behind: ServerChanges.watch([key]))
        guard try isValue(of: key, equalTo: former) else { return false }
        // Before version 6.0.9, a transaction doesn't fail if a watched key expires. XX then stores nothing.
        var commands = [RESPCommand("SET") + key + bytes + (former == nil ? "NX" : "XX")]
        if former != nil, traits.keepsExpiryTimes {
            commands[0] = commands[0] + "KEEPTTL"
        } else if let deadline = times.each[0] {
            try connection.requireClock(times.now)
            commands.append(ServerChanges.expiring(key, at: deadline))
        }
        do throws(SourceError) {
            return try execute(commands)?[0] == .status("OK")
        } catch {
            guard error.refusal == nil else { throw error }
            // The reply was lost. PING opens a new connection.
            if (try? connection.ask(RESPCommand("PING"))) != nil,
                (try? isValue(of: key, equalTo: bytes)) == true
            {
                return true
            }
            throw SourceError("\(error); it is unknown whether the value was stored")
        }
    }

    /// Whether the key is a string of these bytes; nil: whether it is absent. Never opens a new connection, which would end the watch.
    private func isValue(of key: [UInt8], equalTo bytes: [UInt8]?) throws(SourceError) -> Bool {
        let type = try asked([RESPCommand("TYPE") + key])[0]
        guard let bytes else { return type == .status("none") }
        guard type == .status("string"),
            try asked([RESPCommand("STRLEN") + key])[0].number == Int64(bytes.count)
        else { return false }
        for start in stride(from: 0, to: bytes.count, by: ServerChanges.blockBytes) {
            let end = min(bytes.count, start + ServerChanges.blockBytes)
            let piece = try asked([RESPCommand("GETRANGE") + key + start + (end - 1)])[0].blob
            guard piece == Array(bytes[start..<end]) else { return false }
        }
        return true
    }
}
