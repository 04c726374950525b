import CBOR
import StorageEngine
import StoreInspection
import ValkeyWire

/// A key's value: the bytes of a string, or a CBOR document of another type's elements.
package struct ServerValue: Sendable, Hashable {
    package var bytes: [UInt8]
    package var encoding: ValueEncoding
    /// Number of elements or, for a string, of bytes at the server.
    package var total: Int
    package var shown: Int
    /// The owner of a near cache's object.
    package var owner: String?
    /// A description of a near cache's object, or of its damage; the times of a stream's first and last entry.
    package var origin: String?
    /// Whether a near cache's object is damaged; `bytes` then has the raw string.
    package var isUnreadable = false
    package var isTooLarge = false
    /// Whether the value was changed during each attempt to read it.
    package var isMixed = false
    /// Why the value may have changed between the steps of reading; nil: it hasn't.
    package var doubt: String?

    /// Why the value is incomplete; nil: it is complete.
    package var shortage: String? {
        isMixed
            ? "it was changed while it was read, so elements may be missing or occur twice"
            : shown < total
                ? (isTooLarge ? "it is too large to be read whole: " : "")
                    + "only \(Figures.count(shown)) of \(Figures.count(total)) \(encoding == .cbor ? "elements" : "bytes") are read"
                : nil
    }

    fileprivate var unwrapped: ServerValue {
        var value = self
        do throws(StoredObject.Problem) {
            let object = try StoredObject(decoding: bytes)
            (value.bytes, value.encoding, value.owner) = (object.bytes, object.encoding, object.owner)
            value.origin = [
                "a near cache's object", object.memoryLifetime.map { "in memory for \($0) at most" },
            ]
            .compactMap { $0 }.joined(separator: ", ")
        } catch {
            value.isUnreadable = true
            value.origin = "has the header of a near cache's object, but \(error.reason)"
        }
        return value
    }

    /// The time in the ID of a stream's entry; nil if it is before the year 2000.
    package static func time(ofStreamID id: String) -> Timestamp? {
        id.split(separator: "-").first.flatMap { Int64($0) }.flatMap { milliseconds in
            milliseconds < 946_684_800_000
                ? nil : Timestamp(microseconds: 0).adding(milliseconds: milliseconds)
        }
    }

    /// Maximum bytes to read of a value, for the browser and for commands (queries, `get` and `export`).
    package static let (mostBytes, mostForCommands) = (32 << 20, 256 << 20)
}

extension ServerValue {
    /// A string that was read whole.
    fileprivate init(string bytes: [UInt8]) {
        self.init(bytes: bytes, encoding: .unknown, total: bytes.count, shown: bytes.count)
        if StoredObject.hasMagic(bytes) { self = unwrapped }
    }
}

extension ServerConnection {
    private static let tries = 3

    /// Reads a value in small steps, up to about `most` bytes of the result. Reads it again if it was changed between two steps.
    /// Counts as an access to the key where ``ServerCapabilities/keepsIdleTimes`` is false.
    /// - Returns: nil if the key is absent.
    /// - Throws: also for a module's type.
    package func value(
        of key: [UInt8], type: String, in database: Int, most: Int = ServerValue.mostBytes
    ) throws(SourceError) -> ServerValue? {
        // Values are read one after another, because the end of a read ends all watches of the connection.
        try values.withLock { (_) throws(SourceError) in
            var value: ServerValue?
            for _ in 0..<ServerConnection.tries {
                var reading = ValueReading(connection: self, key: key, database: database, most: most)
                let server = try serverNumber()
                value = try reading.value(of: type)
                try requireServer(server)
                guard let isChanged = try reading.isChanged() else {
                    value?.doubt =
                        "it was read in steps, without permission to check for changes between them (WATCH, MULTI)"
                    return value
                }
                if !isChanged { return value }
            }
            value?.isMixed = true
            return value
        }
    }

    /// Reads the short strings of some keys, up to about 256 KiB, with one request. Other keys have no value in the result.
    func shortStrings(_ keys: [[UInt8]], _ facts: [KeyMetadata?], in database: Int) throws(SourceError)
        -> [[UInt8]: ServerValue]
    {
        let strings = zip(keys, facts).compactMap { key, facts in
            facts.flatMap {
                $0.type == "string" && $0.memory < ValueReading.shortBytes ? (key, $0.memory) : nil
            }
        }
        let short = strings.prefix(.max, bytes: ValueReading.stepBytes) { $0.1 }.map(\.0)
        let replies = try ask(
            short.map { RESPCommand("GETRANGE") + $0 + 0 + (ValueReading.shortBytes - 1) }, in: database)
        var values: [[UInt8]: ServerValue] = [:]
        for (key, reply) in zip(short, replies) {
            guard let bytes = reply.blob, (1..<ValueReading.shortBytes).contains(bytes.count) else {
                continue
            }
            values[key] = ServerValue(string: bytes)
        }
        return values
    }
}

private struct ValueReading {
    let connection: ServerConnection
    let key: [UInt8]
    let database: Int
    let most: Int
    /// The document's encoded items. Nothing else is kept, so their bytes are the memory used.
    var items: [UInt8] = []
    var watching: Int?
    var isUnwatched = false
    var steps = 0

    /// Maximum elements of a step, and of the first one.
    private static let (elements, first) = (2000, 8)
    /// Approximate maximum bytes of a step: a full server may evict keys for a reply.
    fileprivate static let stepBytes = 256 << 10
    private static let pieceBytes = 1 << 20
    /// Minimum bytes of a string that is read with several commands.
    fileprivate static let shortBytes = 4 << 10

    mutating func value(of type: String) throws(SourceError) -> ServerValue? {
        switch type {
        case "string": return try string()
        case "hash": return try elements("HLEN", scan: "HSCAN", of: 2)
        case "set": return try elements("SCARD", scan: "SSCAN", of: 1)
        case "list": return try list()
        case "zset": return try sortedSet()
        case "stream": return try stream()
        case KeyMetadata.forbidden: throw SourceError(KeyMetadata.forbiddenReason)
        default: throw SourceError("values of the module type \(type) aren't supported")
        }
    }

    /// Whether the watched key was changed; nil: the user has no permission to check.
    func isChanged() throws(SourceError) -> Bool? {
        guard let watching else { return false }
        if isUnwatched { return nil }
        guard watching == connection.linkNumber else { return true }
        let replies = try connection.change(
            [RESPCommand("MULTI"), RESPCommand("EXEC")], in: database, isContinued: true)
        do throws(SourceError) {
            return try connection.results(of: [], in: replies) == nil
        } catch {
            if error.refusal == nil { throw error }
            return nil
        }
    }

    private mutating func watch() throws(SourceError) {
        isUnwatched = try connection.ask([RESPCommand("WATCH") + key], in: database)[0].error != nil
        watching = connection.linkNumber
    }

    private mutating func nextStep(_ name: String, _ words: [String]) throws(SourceError) -> RESPValue {
        let command = words.reduce(RESPCommand(name) + key) { $0 + $1 }
        steps += 1
        guard steps > 1 else { return try connection.ask(command, in: database) }
        return try connection.paced(try connection.ask(command, in: database))
    }

    private func next(after count: Int) -> Int {
        guard count > 0 else { return ValueReading.first }
        let fitting = ValueReading.stepBytes / max(1, items.count / count)
        return min(max(1, fitting), 8 * count, ValueReading.elements)
    }

    private func ask(_ name: String) throws(SourceError) -> RESPValue {
        try connection.ask(RESPCommand(name) + key, in: database)
    }

    /// Returns the number of elements; nil: absent. Watches a key that takes several steps.
    private mutating func length(_ command: String) throws(SourceError) -> Int? {
        var length = Int(clamping: try ask(command).number ?? 0)
        if length > ValueReading.first {
            try watch()
            length = Int(clamping: try ask(command).number ?? 0)
        }
        return length > 0 ? length : nil
    }

    private var isEnough: Bool { items.count >= most }

    mutating func string() throws(SourceError) -> ServerValue? {
        let first = min(most, ValueReading.shortBytes)
        guard var bytes = try nextStep("GETRANGE", ["0", "\(first - 1)"]).blob else { return nil }
        if bytes.count < first {
            // No bytes: the string is empty or the key is absent.
            if bytes.isEmpty, try ask("EXISTS").number != 1 { return nil }
            return ServerValue(string: bytes)
        }
        let total = Int(clamping: try ask("STRLEN").number ?? 0)
        if total > ValueReading.pieceBytes { try watch() }
        bytes = []
        while bytes.count < min(total, most) {
            let last = min(most, bytes.count + ValueReading.pieceBytes) - 1
            guard let piece = try nextStep("GETRANGE", ["\(bytes.count)", "\(last)"]).blob else { return nil }
            if piece.isEmpty { break }
            bytes += piece
        }
        var value = ServerValue(
            bytes: bytes, encoding: .unknown, total: max(total, bytes.count), shown: bytes.count)
        value.isTooLarge = bytes.count >= most
        return value.shortage == nil ? ServerValue(string: bytes) : value
    }

    /// Reads a set, or a hash with two replies for each element. Elements read in several steps are sorted by name, because
    /// the server has no stable order.
    mutating func elements(
        _ length: String, scan: String, of width: Int
    ) throws(SourceError) -> ServerValue? {
        guard let total = try self.length(length) else { return nil }
        // A scan may return an element twice.
        var (found, cursor, progress) = (KeyTable(), "0", ScanProgress(connection, scan))
        var starts: [Int] = []
        repeat {
            let before = found.count
            let reply = try nextStep(scan, [cursor, "COUNT", "\(next(after: found.count))"])
            guard let (next, replies) = reply.scanned else { throw connection.invalidReply(to: scan) }
            cursor = String(decoding: next, as: UTF8.self)
            for place in stride(from: 0, through: replies.count - width, by: width) {
                guard let name = replies[place].blob, found.insert(name) else { continue }
                starts.append(items.count)
                for reply in replies[place..<place + width] { items += ValueReading.item(reply).encoded }
            }
            try progress.note(found.count - before, before: next) { total }
        } while cursor != "0" && !isEnough
        if steps > 1 {
            let order = starts.indices.sorted { found[$0].lexicographicallyPrecedes(found[$1]) }
            starts.append(items.count)
            items = order.flatMap { items[starts[$0]..<starts[$0 + 1]] }
        }
        return value(width == 1 ? .array([]) : .map(CBORMap()), of: total, shown: found.count)
    }

    /// Reads ranges up to the limit. `take` returns the number of elements in a reply.
    private mutating func ranges(
        _ name: String, of total: Int, _ option: String?, _ take: ([RESPValue], inout [UInt8]) -> Int
    ) throws(SourceError) -> Int {
        var count = 0
        while count < total, !isEnough {
            let last = min(total, count + next(after: count)) - 1
            let words = ["\(count)", "\(last)"] + [option].compactMap { $0 }
            let taken = take(try nextStep(name, words).elements ?? [], &items)
            if taken == 0 { break }
            count += taken
        }
        return count
    }

    mutating func list() throws(SourceError) -> ServerValue? {
        guard let total = try length("LLEN") else { return nil }
        let count = try ranges("LRANGE", of: total, nil) { reply, items in
            for element in reply { items += ValueReading.item(element).encoded }
            return reply.count
        }
        return value(.array([]), of: total, shown: count)
    }

    mutating func sortedSet() throws(SourceError) -> ServerValue? {
        guard let total = try length("ZCARD") else { return nil }
        let count = try ranges("ZRANGE", of: total, "WITHSCORES") { reply, items in
            // Protocol 3 has an array for each member.
            let pairs = reply.first?.elements == nil ? reply : reply.flatMap { $0.elements ?? [] }
            for place in stride(from: 0, to: pairs.count - 1, by: 2) {
                items += ValueReading.item(pairs[place]).encoded
                items += ValueReading.score(pairs[place + 1]).encoded
            }
            return pairs.count / 2
        }
        return value(.map(CBORMap()), of: total, shown: count)
    }

    /// Maps the ID of each entry to its fields, in the order of the IDs.
    mutating func stream() throws(SourceError) -> ServerValue? {
        guard let total = try length("XLEN") else {
            // A stream without entries exists.
            return try ask("EXISTS").number == 1 ? value(.map(CBORMap()), of: 0, shown: 0) : nil
        }
        var (shown, start) = (0, "-")
        var times: (first: Timestamp, last: Timestamp)?
        reading: while !isEnough {
            let (before, count) = (shown, next(after: shown))
            let reply = try nextStep("XRANGE", [start, "+", "COUNT", "\(count)"]).elements ?? []
            for entry in reply {
                guard let parts = entry.elements, parts.count == 2, let id = parts[0].text else { continue }
                items += CBORValue.text(id).encoded + ValueReading.fields(parts[1].elements ?? [])
                shown += 1
                if let time = ServerValue.time(ofStreamID: id) { times = (times?.first ?? time, time) }
                guard let next = ValueReading.id(after: id) else { break reading }
                start = next
            }
            if reply.count < count || shown == before { break }
        }
        var value = self.value(.map(CBORMap()), of: total, shown: shown)
        value.origin = times.map { "added \(Figures.date($0.first)) to \(Figures.date($0.last))" }
        return value
    }

    /// The fields of a stream's entry: a map, or a list of pairs if a name repeats.
    private static func fields(_ replies: [RESPValue]) -> [UInt8] {
        let pairs = stride(from: 0, to: replies.count - 1, by: 2).map { place in
            [item(replies[place]), item(replies[place + 1])]
        }
        guard Set(pairs.map { $0[0].encoded }).count == pairs.count else {
            return CBORValue.array(pairs.map { .array($0) }).encoded
        }
        return head(.map(CBORMap()), pairs.count) + pairs.flatMap { $0[0].encoded + $0[1].encoded }
    }

    /// The next possible ID of an entry. Servers before version 6.2 have no exclusive ranges.
    private static func id(after id: String) -> String? {
        let parts = id.split(separator: "-").compactMap { UInt64($0) }
        guard parts.count == 2 else { return nil }
        return parts[1] < .max ? "\(parts[0])-\(parts[1] + 1)" : parts[0] < .max ? "\(parts[0] + 1)-0" : nil
    }

    private static func head(_ empty: CBORValue, _ count: Int) -> [UInt8] {
        var head = CBORValue.unsigned(UInt64(count)).encoded
        head[0] |= empty.encoded[0]
        return head
    }

    private static func item(_ reply: RESPValue) -> CBORValue {
        switch reply {
        case .bytes(let bytes): item(bytes)
        case .double(let number): item(number)
        case .integer(let number): CBORValue(integer: number)
        default: reply.text.map { .text($0) } ?? .null
        }
    }

    private static func item(_ number: Double) -> CBORValue {
        number == number.rounded() && abs(number) < 1e15 ? CBORValue(integer: Int64(number)) : .float(number)
    }

    /// Protocol 2 sends scores as texts.
    private static func score(_ reply: RESPValue) -> CBORValue {
        reply.text.flatMap { Double($0) }.map { item($0) } ?? item(reply)
    }

    private static func item(_ bytes: [UInt8]) -> CBORValue {
        String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .bytes(bytes)
    }

    private func value(_ empty: CBORValue, of total: Int, shown: Int) -> ServerValue {
        var value = ServerValue(
            bytes: ValueReading.head(empty, shown) + items, encoding: .cbor, total: max(total, shown),
            shown: shown)
        value.isTooLarge = isEnough
        return value
    }
}
