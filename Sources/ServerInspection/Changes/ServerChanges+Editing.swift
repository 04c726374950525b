import StoreInspection
import ValkeyWire

extension ServerChanges {
    /// Stores a string, or an element of another type, if it is still equal to `former`; nil: if the key is absent. Keeps the expiry
    /// time, and writes no undo record. Reads the former value, which is an access to the key.
    /// - Parameters:
    ///   - element: nil: the whole string.
    ///   - run: the run of the server where the key was found; nil: any.
    /// - Returns: false if another client changed, removed or created the key; nothing was stored.
    package func store(
        _ bytes: [UInt8], at key: [UInt8], _ element: ValueElement? = nil, replacing former: [UInt8]?,
        in run: String? = nil
    ) throws(SourceError) -> Bool {
        let traits = try connection.requireRun(run)
        let times = try deadlines(of: [key], behind: ServerChanges.watch([key]))
        guard try isValue(of: key, element, equalTo: former) else { return false }
        // Before version 6.0.9, a transaction doesn't fail if a watched key expires. XX then stores nothing.
        let whole = RESPCommand("SET") + key + bytes + (former == nil ? "NX" : "XX")
        var commands = [element?.storing(bytes, at: key) ?? whole]
        if former != nil, traits.keepsExpiryTimes {
            if element == nil { commands[0] = commands[0] + "KEEPTTL" }
        } else if let deadline = times.each[0] {
            // A duration, because a time by a wrong clock could delete the key at once.
            commands.append(RESPCommand("PEXPIRE") + key + min(max(1, Int(deadline - times.now)), 1 << 60))
        }
        if case .field(let name)? = element, let deadline = try deadline(ofField: name, at: key) {
            commands.append(RESPCommand("HPEXPIREAT") + key + Int(deadline) + "FIELDS" + 1 + name)
        }
        var failure: SourceError?
        do throws(SourceError) {
            let results = try execute(commands)
            if let results, element != nil || results[0] == .status("OK") { return true }
        } catch {
            guard error.refusal == nil else { throw error }
            failure = error
            // The connection was lost. PING opens a new one.
            _ = try? connection.ask(RESPCommand("PING"))
        }
        // Even so, the server may have executed the transaction.
        if (try? isValue(of: key, element, equalTo: bytes)) == true { return true }
        guard let failure else { return false }
        let isFormer = (try? isValue(of: key, element, equalTo: former)) ?? false
        throw SourceError(
            "\(failure); \(isFormer ? "nothing was stored" : "it is unknown whether the value was stored")")
    }

    /// The expiry time of a hash's field, which `HSET` removes, in milliseconds since 1970; nil: none. Fields have one since Redis 7.4
    /// and Valkey 9.
    private func deadline(ofField name: [UInt8], at key: [UInt8]) throws(SourceError) -> Int64? {
        let commands = [RESPCommand("HPEXPIRETIME") + key + "FIELDS" + 1 + name]
        let answers = try connection.change(commands, in: database, isContinued: true)
        try connection.accept(answers, to: commands) { $0.contains("unknown command") }
        return answers[0].elements?.first?.number.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Whether the key is a string of these bytes, or the element equals them; nil: whether the key is absent. Never opens a new
    /// connection, which would end the watch.
    private func isValue(
        of key: [UInt8], _ element: ValueElement?, equalTo bytes: [UInt8]?
    ) throws(SourceError) -> Bool {
        if let element, let bytes {
            let present = element.bytes(in: try asked(element.reading(of: key)))
            return present.map { element.isSame($0, bytes) } ?? false
        }
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
