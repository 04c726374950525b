import CBOR
import StorageEngine
import StoreInspection
import SystemC

/// What was deleted and changed on servers, kept on this machine as long as it can be taken back: an archive for each database,
/// in a store of the person's own, written before the server is told. Safe from any thread and process.
struct UndoArchive {
    /// Seconds, as long as in a store.
    static let grace = 600
    /// Most bytes that are kept for one database.
    static let most: UInt64 = 256_000_000

    private let store: Store
    private let archive: Archive
    private let folder: String

    struct Record {
        var action: ReversibleAction
        /// What its copies are kept under. A number of actions may be given again; this isn't.
        let token: Int64
        /// The run of the server that it was done in.
        let run: String
        /// How many of its copies were seen to already, and are kept no longer.
        var undone = 0
        /// Whether it is all done.
        var isOver = false
    }

    /// One key as it was.
    struct Copy {
        var key: [UInt8]
        /// Nil: it didn't expire. Milliseconds since 1970.
        var deadline: Int64?
        /// What `DUMP` gave; empty where only the deadline was changed.
        var dump: [UInt8] = []
        /// Seconds for which it hadn't been used; nil: the server doesn't tell.
        var idle: Int64?
        /// How often it was used, on the server's scale; nil: it doesn't count that.
        var frequency: Int64?
        /// The deadline that it got; nil: none.
        var newDeadline: Int64?
        /// When it was copied by the server's clock, in milliseconds since 1970; nil: an earlier version copied it.
        var time: Int64?
        /// Recognises the value; nil: an earlier version copied it.
        var digest: ValueDigest?
        /// What it took, in bytes. At most ``KeyFacts/most``.
        var size = 0
    }

    /// - Returns: nil if there is none and it isn't to be made.
    init?(
        in folder: String, for address: ServerAddress, database: Int, creating: Bool
    ) throws(SourceError) {
        let name = UndoArchive.name(address, database)
        let opened: (Store, Archive)? = try SourceError.translating { () throws(StorageError) in
            if !creating {
                let isThere = try Store.isStore(at: folder)
                if !isThere { return nil }
            }
            let store = try Store.open(
                at: folder, mode: .readWrite, createIfMissing: creating,
                options: StoreOptions(processName: "vellum"))
            if !creating {
                let names = try store.archiveNames()
                if !names.contains(where: { ExactText($0) == ExactText(name) }) { return nil }
            }
            let kept = ArchiveConfiguration(kind: .collection, diskLimit: nil, memoryLimit: 0)
            return (store, try store.archive(named: name, orCreate: kept))
        }
        guard let opened else { return nil }
        self.init(store: opened.0, archive: opened.1, folder: folder)
        // They cost nothing but their names.
        if creating { try? removeLeftTurns() }
    }

    private init(store: Store, archive: Archive, folder: String) {
        (self.store, self.archive, self.folder) = (store, archive, folder)
    }

    /// Removes the files of actions that a kill has ended and that are forgotten by now.
    private func removeLeftTurns() throws(SourceError) {
        let place = folder.lastIndex(of: "/").map { folder[...$0] } ?? "./"
        let start = String(folder.dropFirst(place == "./" ? 0 : place.count)) + "-"
        var left: [Int64: String] = [:]
        for file in try StoresFolder.contents(of: String(place)) where file.name.hasPrefix(start) {
            if let token = Int64(file.name.dropFirst(start.count)) { left[token] = file.path }
        }
        if left.isEmpty { return }
        // After the files: an action has its record first.
        let names = try SourceError.translating { () throws(StorageError) in try store.archiveNames() }
        for name in names {
            let other = try SourceError.translating { () throws(StorageError) in
                UndoArchive(store: store, archive: try store.archive(named: name), folder: folder)
            }
            for record in try other.records() { left[record.token] = nil }
        }
        for path in left.values { unlink(path) }
    }

    /// Names of archives are shorter than names of hosts may be. This machine has several: what was done under one can be taken back
    /// under the others, and the server's run tells servers apart.
    private static func name(_ address: ServerAddress, _ database: Int) -> String {
        let end = "-\(address.port)-db\(database)"
        if address.isLocal { return "localhost" + end }
        let host = address.host.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" }
        guard address.host.utf8.count > 40 else { return String(host) + end }
        let sum = Array(address.host.utf8).withUnsafeBytes { Checksum.crc32c($0) }
        return String(host.prefix(30)) + "-\(String(sum, radix: 16))" + end
    }

    func close() { store.close() }

    /// How many more bytes it takes.
    func room() throws(SourceError) -> UInt64 {
        try SourceError.translating { () throws(StorageError) in
            let used = try archive.status().diskBytes
            return UndoArchive.most - min(UndoArchive.most, used)
        }
    }

    /// Seconds for which what is under way is kept, so that a long action has its way back when it ends.
    private static let longest = 6 * 3600

    private static func attributes(isOver: Bool) -> EntryAttributes {
        EntryAttributes(lifetime: .seconds(isOver ? grace : longest))
    }

    /// As long as the copies have.
    private static func attributes(of record: Record) -> EntryAttributes {
        guard record.isOver else { return attributes(isOver: false) }
        let age = Timestamp.now().seconds(since: record.action.time)
        return EntryAttributes(lifetime: .seconds(max(1, min(Double(grace), Double(grace) - age))))
    }

    private func place(of record: Record) -> String { "\(folder)-\(record.token)" }

    func turn(of record: Record) throws(SourceError) -> UndoTurn {
        guard let turn = try UndoTurn(place(of: record)) else {
            throw SourceError("another action has its number")
        }
        return turn
    }

    /// Whether nobody is at it any more.
    func isOver(_ record: Record) throws(SourceError) -> Bool {
        if record.isOver { return true }
        guard let turn = try UndoTurn(place(of: record)) else { return false }
        turn.end()
        return true
    }

    private static func key(_ id: UInt32) -> String { "action \(id)" }

    /// With a new number, which no other process takes.
    func begin(_ kind: ReversibleAction.Kind, in run: String, at time: Timestamp) throws(SourceError)
        -> Record
    {
        let token = Int64.random(in: 1...Int64.max)
        var id = (try records().map(\.action.id).max() ?? 0) + 1
        while true {
            var action = ReversibleAction(id: id, kind: kind, time: time, entries: 0, bytes: 0)
            action.pid = getpid()
            let record = Record(action: action, token: token, run: run)
            let put = try SourceError.translating { () throws(StorageError) in
                try archive.put(
                    UndoArchive.encoded(record), forKey: UndoArchive.key(id), ifSequence: nil,
                    encoding: .cbor,
                    attributes: UndoArchive.attributes(isOver: false))
            }
            if put != .changed { return record }
            id += 1
        }
    }

    /// Says how much it was in the end, or how many of its copies are back.
    func update(_ record: Record) throws(SourceError) {
        try SourceError.translating { () throws(StorageError) in
            try archive.update(
                UndoArchive.encoded(record), forKey: UndoArchive.key(record.action.id), encoding: .cbor,
                attributes: UndoArchive.attributes(of: record))
        }
    }

    /// From now on an action that is over, and so many copies of it, are kept for the grace.
    func settle(_ record: Record, copies: Int) throws(SourceError) {
        try SourceError.translating { () throws(StorageError) in
            for number in 0..<copies {
                _ = try archive.setLifetime(
                    .seconds(UndoArchive.grace), forKey: "\(record.token)/\(number)")
            }
        }
        try update(record)
    }

    func keep(_ copies: [Copy], from number: Int, of record: Record) throws(SourceError) {
        try SourceError.translating { () throws(StorageError) in
            for (place, copy) in copies.enumerated() {
                try archive.put(
                    UndoArchive.encoded(copy), forKey: "\(record.token)/\(number + place)", encoding: .cbor,
                    attributes: UndoArchive.attributes(isOver: false))
            }
        }
    }

    /// Copies that aren't needed: nothing was changed, or they are back.
    func forget(_ numbers: some Sequence<Int>, of record: Record) throws(SourceError) {
        try SourceError.translating { () throws(StorageError) in
            for number in numbers { try archive.delete("\(record.token)/\(number)") }
        }
    }

    /// Copies that are left behind expire.
    func end(_ record: Record) throws(SourceError) {
        try SourceError.translating { () throws(StorageError) in
            _ = try archive.delete(UndoArchive.key(record.action.id))
        }
    }

    /// Nil: it isn't kept any more, or can't be read.
    func copy(_ number: Int, of record: Record) throws(SourceError) -> Copy? {
        try SourceError.translating { () throws(StorageError) in
            try archive.peek("\(record.token)/\(number)").flatMap(UndoArchive.copy)
        }
    }

    /// The numbers of the copies that are kept, those that can't be read among them, in their order. Looks at all keys.
    func numbers(of record: Record) throws(SourceError) -> [Int] {
        let start = "\(record.token)/"
        return try SourceError.translating { () throws(StorageError) in
            let entries = try archive.entries()
            var numbers: [Int] = []
            for index in entries.indices {
                guard let key = try entries.presentMetadata(at: index)?.key, key.hasPrefix(start),
                    let number = Int(key.dropFirst(start.count))
                else { continue }
                numbers.append(number)
            }
            return numbers.sorted()
        }
    }

    /// How many copies of an action are kept, and what the keys took: at least what it has done. Reads them all.
    func figures(of record: Record) throws(SourceError) -> (entries: Int, bytes: UInt64) {
        var figures = (entries: 0, bytes: UInt64(0))
        for number in try numbers(of: record) {
            guard let copy = try copy(number, of: record) else { continue }
            figures.entries += 1
            figures.bytes += UInt64(copy.size)
        }
        return figures
    }

    /// What can be taken back, latest first.
    func records() throws(SourceError) -> [Record] {
        try SourceError.translating { () throws(StorageError) in
            let entries = try archive.entries()
            var records: [Record] = []
            for index in entries.indices {
                guard let metadata = try entries.presentMetadata(at: index),
                    metadata.key.hasPrefix("action "), let bytes = try archive.peek(metadata.key),
                    let record = UndoArchive.record(bytes)
                else { continue }
                records.append(record)
            }
            return records.sorted { $0.action.id > $1.action.id }
        }
    }

    // MARK: Form

    private static func encoded(_ record: Record) -> [UInt8] {
        let action = record.action
        let numbers = [
            Int64(action.id), Int64(action.kind.rawValue), action.time.microseconds, Int64(action.entries),
            Int64(clamping: action.bytes), Int64(action.pid), Int64(record.undone), record.token,
            record.isOver ? 1 : 0,
        ].item
        return CBORValue.array([numbers, .text(record.run)]).encoded
    }

    private static func record(_ bytes: [UInt8]) -> Record? {
        guard case .array(let parts)? = try? CBORReader.decode(bytes), parts.count == 2,
            case .array(let items) = parts[0], case .text(let run) = parts[1]
        else { return nil }
        let numbers = items.compactMap(\.number)
        guard numbers.count == 9, let kind = UInt32(exactly: numbers[1]),
            let kind = ReversibleAction.Kind(rawValue: kind)
        else { return nil }
        var action = ReversibleAction(
            id: UInt32(clamping: numbers[0]), kind: kind, time: Timestamp(microseconds: numbers[2]),
            entries: Int(clamping: numbers[3]), bytes: UInt64(clamping: numbers[4]))
        action.pid = Int32(clamping: numbers[5])
        return Record(
            action: action, token: numbers[7], run: run, undone: Int(clamping: max(0, numbers[6])),
            isOver: numbers[8] == 1)
    }

    private static func encoded(_ copy: Copy) -> [UInt8] {
        func item(_ number: Int64?) -> CBORValue { number.map { [$0].item } ?? .null }
        return CBORValue.array([
            .bytes(copy.key), .bytes(copy.dump), item(copy.deadline), item(copy.idle), item(copy.newDeadline),
            item(Int64(copy.size)), item(copy.frequency), item(copy.time),
            copy.digest.map { [Int64(bitPattern: $0.hash), Int64($0.length)].item } ?? .null,
        ]).encoded
    }

    private static func copy(_ bytes: [UInt8]) -> Copy? {
        guard case .array(let items)? = try? CBORReader.decode(bytes), items.count == 7 || items.count == 9,
            case .bytes(let key) = items[0], case .bytes(let dump) = items[1]
        else { return nil }
        func number(_ item: CBORValue) -> Int64? {
            if case .array(let one) = item { one.first?.number } else { nil }
        }
        var copy = Copy(
            key: key, deadline: number(items[2]), dump: dump, idle: number(items[3]),
            frequency: number(items[6]), newDeadline: number(items[4]), size: KeyFacts.size(number(items[5])))
        if items.count == 9 {
            copy.time = number(items[7])
            if case .array(let parts) = items[8], parts.count == 2, let hash = parts[0].number,
                let length = parts[1].number
            {
                copy.digest = ValueDigest(hash: UInt64(bitPattern: hash), length: Int(clamping: length))
            }
        }
        return copy
    }
}

/// Held by the process whose action is under way, so that another one knows whether it still is, also where numbers of
/// processes mean nothing: in containers, and after a restart. For one thread.
final class UndoTurn {
    private let path: String
    private let descriptor: Int32

    /// Nil: another process has it.
    fileprivate init?(_ path: String) throws(SourceError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SourceError("\(path) can't be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        (self.path, self.descriptor) = (path, descriptor)
    }

    func end() { unlink(path) }

    deinit { close(descriptor) }
}

extension [Int64] {
    fileprivate var item: CBORValue {
        .array(map { $0 < 0 ? .negative(UInt64(-1 - $0)) : .unsigned(UInt64($0)) })
    }
}

extension CBORValue {
    fileprivate var number: Int64? {
        switch self {
        case .unsigned(let number): Int64(exactly: number)
        case .negative(let number): Int64(exactly: number).map { -1 - $0 }
        default: nil
        }
    }
}
