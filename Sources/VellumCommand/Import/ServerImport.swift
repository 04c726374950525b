import CBOR
import ServerInspection

/// Stores records as keys of a server's database, each in one step. For one thread.
final class ServerImport {
    private let database: ServerDatabase
    /// The property with the key; nil: the records of a lossless export.
    private let key: KeyProperty?
    private let value: KeyProperty?
    private let lifetime: Duration?
    private let replaces: Bool
    /// Bytes that still fit without eviction, as of the last check.
    private var reserved = 0
    /// Number of values whose byte strings were stored as texts, and the key of the first one.
    private var spelled = (count: 0, first: "")

    init(
        database: ServerDatabase, key: KeyProperty?, value: KeyProperty?, lifetime: Duration?, replaces: Bool
    ) {
        (self.database, self.key, self.value) = (database, key, value)
        (self.lifetime, self.replaces) = (lifetime, replaces)
    }

    func store(_ object: UnsafeRawBufferPointer) throws -> ImportedRecord {
        let name: String
        switch (key ?? KeyProperty(Exporter.keyName)).findName(in: object) {
        case .fault(let reason): return .bad(reason)
        case .key(let found): name = found
        }
        guard key == nil else {
            guard let content = KeyProperty.content(of: object, value) else {
                return .bad(KeyProperty.absence(value))
            }
            let json = try bytes(of: content, in: name)
            try requireMemory(json.count)
            let reason = try database.connection.set(
                KeyName.bytes(name), to: json,
                milliseconds: lifetime.map { max(1, Int64(min($0 / .milliseconds(1), 1e15))) },
                replaces: replaces, in: database.number)
            return reason.map { .bad("\(TerminalSafe.quoted(name)): \($0)") } ?? .stored(bytes: json.count)
        }
        guard case .key(let text) = KeyProperty("dump").find(in: object),
            let bytes = Data(base64Encoded: text)
        else { return .bad("not a record of export --lossless: \"dump\" is not base64") }
        var dump = StoredDump(key: KeyName.bytes(name), expires: nil, bytes: Array(bytes))
        switch KeyProperty("expires").find(in: object) {
        case .key(let text) where Int64(text).map { $0 > 0 } ?? false: dump.expires = Int64(text)
        default:
            guard let item = KeyProperty("expires").value(in: object), item.elementsEqual([0xf6]) else {
                return .bad("\"expires\" is neither null nor milliseconds since 1970")
            }
        }
        try requireMemory(bytes.count)
        let reason = try database.connection.restore(dump, replaces: replaces, in: database.number)
        return reason.map { .bad("\(TerminalSafe.quoted(name)): \($0)") } ?? .stored(bytes: bytes.count)
    }

    /// A message about byte strings that were stored as texts; nil without any.
    var remark: String? {
        guard spelled.count > 0 else { return nil }
        return
            "\(Figures.count(spelled.count, "value has", "values have")) byte strings, which were stored as texts of the form "
            + "h'00ff'; first \(TerminalSafe.quoted(spelled.first))"
    }

    /// The bytes to store: texts and bytes unchanged, other values as JSON.
    private func bytes(of item: UnsafeRawBufferPointer, in key: String) throws -> [UInt8] {
        switch try CBORReader.decode(Array(item)) {
        case .text(let text): return Array(text.utf8)
        case .bytes(let bytes): return bytes
        default: break
        }
        if JSONForms(of: item).byteStrings > 0 {
            if spelled.count == 0 { spelled.first = key }
            spelled.count += 1
        }
        var json: [UInt8] = []
        try JSONPrinter.print(item, escapingTexts: false, into: &json)
        return json
    }

    /// Checks once per megabyte whether the server would evict other keys.
    private func requireMemory(_ bytes: Int) throws {
        if reserved < bytes {
            reserved = max(1 << 20, bytes)
            try database.connection.requireMemory(for: reserved, "for the import")
        }
        reserved -= bytes
    }
}

extension KeyProperty {
    /// Like ``find(in:)``, but byte strings are keys too, and the key is spelled as by ``KeyName``.
    fileprivate func findName(in object: UnsafeRawBufferPointer) -> Found {
        if let item = value(in: object), item.first.map({ $0 >> 5 == 2 }) == true,
            case .bytes(let bytes)? = try? CBORReader.decode(Array(item))
        {
            return .key(KeyName.text(bytes))
        }
        let found = find(in: object)
        return if case .key(let key) = found { .key(KeyName.text(key.utf8)) } else { found }
    }
}
