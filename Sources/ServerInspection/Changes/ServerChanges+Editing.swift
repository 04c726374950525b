import StoreInspection
import ValkeyWire

extension ServerChanges {
    /// The transaction that changes a watched value, and checks of whether it was executed.
    private struct Edit {
        var commands: [RESPCommand]
        /// Whether the results show that the value was stored; false: the watched key has expired; nil: an invalid result.
        let isDone: ([RESPValue]) -> Bool?
        /// Reads the value. True: it is as after the edit; false: as before the edit; nil: neither.
        let isStored: () throws(SourceError) -> Bool?
    }

    /// Stores a string, or adds, replaces or removes an element of another type, if the current value equals `former`. Keeps the
    /// expiry time, and writes no undo record. Reads the current value, which is an access to the key.
    /// - Parameters:
    ///   - bytes: the new value; nil: the element is removed.
    ///   - element: nil: the whole string.
    ///   - former: nil: the key or the element is absent.
    ///   - run: the run of the server where the key was found; nil: any.
    /// - Returns: false if another client changed, removed or created the key or the element; nothing was changed.
    /// - Throws: an error that states that nothing was changed, or that it is unknown whether the value was changed.
    package func store(
        _ bytes: [UInt8]?, at key: [UInt8], _ element: ValueElement? = nil, replacing former: [UInt8]?,
        in run: String? = nil
    ) throws(SourceError) -> Bool {
        let unchanged = "nothing was changed"
        let prepared: Edit?
        do throws(SourceError) {
            prepared = try edit(key, element, from: former, to: bytes, in: run)
        } catch {
            throw SourceError("\(error); \(unchanged)", refusal: error.refusal)
        }
        guard let edit = prepared else { return false }
        let execution = execution { () throws(SourceError) in
            let results = try execute(edit.commands)
            if let results, edit.isDone(results) == nil { throw connection.invalidReply(to: "EXEC") }
            return results
        } readBack: { () throws(SourceError) in
            try edit.isStored()
        }
        // A list's state doesn't prove which client changed it: others may have moved, added or removed elements.
        let isList = element?.type == "list"
        let isShifted = isList && (former == nil || bytes == nil)
        switch execution {
        case .confirmed(let results): return edit.isDone(results) == true
        case .conflict(true?) where isShifted:
            throw SourceError(
                "\(connection.address) reported a conflict with another client, but the list has the new value; it is "
                    + "unknown which client changed it")
        case .conflict(let isStored): return isStored == true
        case .failed(_, true??) where !isShifted: return true
        case .failed(let failure, let isStored):
            let isUnchanged = failure.refusal != nil || isStored == .some(false) && !isList
            throw SourceError(
                "\(failure); \(isUnchanged ? unchanged : "it is unknown whether the value was changed")",
                refusal: failure.refusal)
        }
    }

    /// Watches the key and prepares the change; nil: the current value isn't equal to `former`.
    private func edit(
        _ key: [UInt8], _ element: ValueElement?, from former: [UInt8]?, to bytes: [UInt8]?, in run: String?
    ) throws(SourceError) -> Edit? {
        let capabilities = try connection.requireRun(run)
        let times = try deadlines(of: [key], after: ServerChanges.watch([key]))
        var edit: Edit
        if let element {
            guard try asked([RESPCommand("TYPE") + key])[0] == .status(element.type) else { return nil }
            let before = try state(of: element, at: key)
            guard before.bytes == former.map(element.normalized) else { return nil }
            let after = before.replacing(by: bytes)
            let commands = element.changing(key, from: former, to: bytes)
            let isReplaced = former != nil && bytes != nil
            edit = Edit(commands: commands) { results in
                switch results[commands.count - 1] {
                case .integer(let number): isReplaced || number > 0
                case .status("OK") where commands.count == 1 && element.type == "list": true
                default: nil
                }
            } isStored: { () throws(SourceError) in
                let now = try state(of: element, at: key)
                return after.isContained(in: now) ? true : before.isContained(in: now) ? false : nil
            }
            if case .field(let name) = element, isReplaced,
                let deadline = try deadline(ofField: name, at: key)
            {
                edit.commands.append(RESPCommand("HPEXPIREAT") + key + Int(deadline) + "FIELDS" + 1 + name)
            }
        } else {
            guard let bytes, try isString(at: key, equalTo: former) else { return nil }
            // Before version 6.0.9, a transaction doesn't fail if a watched key expires. XX then stores nothing.
            let command = RESPCommand("SET") + key + bytes + (former == nil ? "NX" : "XX")
            edit = Edit(commands: [capabilities.keepsExpiryTimes ? command + "KEEPTTL" : command]) {
                $0[0] == .status("OK") ? true : $0[0] == .null ? false : nil
            } isStored: { () throws(SourceError) in
                if try isString(at: key, equalTo: bytes) { return true }
                return try isString(at: key, equalTo: former) ? false : nil
            }
        }
        if !capabilities.keepsExpiryTimes, let deadline = times.each[0] {
            // A duration is used, because an absolute time by a wrong clock could delete the key at once.
            let duration = min(max(1, Int(deadline - times.now)), 1 << 60)
            edit.commands.append(RESPCommand("PEXPIRE") + key + duration)
        }
        return edit
    }

    /// The expiry time of a hash's field, which `HSET` removes, in milliseconds since 1970; nil: none. Fields have one since
    /// Redis 7.4 and Valkey 9.
    private func deadline(ofField name: [UInt8], at key: [UInt8]) throws(SourceError) -> Int64? {
        let commands = [RESPCommand("HPEXPIRETIME") + key + "FIELDS" + 1 + name]
        let replies = try connection.change(commands, in: database, isContinued: true)
        try connection.accept(replies, to: commands) { $0.contains("unknown command") }
        return replies[0].elements?.first?.number.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Never opens a new connection, which would end the watch.
    private func state(of element: ValueElement, at key: [UInt8]) throws(SourceError) -> ElementState {
        let commands = ElementState.reading(element, of: key)
        guard let state = ElementState(element, try asked(commands)) else {
            throw connection.invalidReply(to: commands[0].name)
        }
        return state
    }

    /// Whether the key is a string equal to `bytes` or, for nil, absent. Never opens a new connection, which would end the watch.
    private func isString(at key: [UInt8], equalTo bytes: [UInt8]?) throws(SourceError) -> Bool {
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
