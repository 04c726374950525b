import CBOR
import StorageEngine

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why a row can't be read.
enum RowFault: Error {
    /// Its value is damaged, in an unknown encoding, or held only in the memory of another process.
    case unreadable
    /// The entry has been removed in the meantime.
    case gone
    case source(any Error)
}

/// The current row. Not thread-safe; reused for every row.
///
/// A row is one of three: the cursor's entry, whose value is read on first use; an entry that was kept; or columns,
/// encoded as an array with undefined for absent ones.
final class RowReader {
    /// Heap-allocated, because it changes with nearly every access. As a property of this class, each change would
    /// need a run-time exclusivity check, which takes as long as the change itself.
    private let scan: UnsafeMutablePointer<PropertyScan>
    private let documents = DocumentReader()
    /// The time that ages are computed from.
    private let now: Timestamp
    /// The cursor that entries come from. A constant, so that calls need no retain and release.
    private let source: any QueryCursor
    /// Whether the row is the cursor's current entry.
    private var isEntry = true
    private var facts: EntryFacts?
    private var content: UnsafeRawBufferPointer?
    private var state = State.unread
    /// Number and total bytes of the values that were read.
    private(set) var valuesRead = 0
    private(set) var bytesRead = 0
    private(set) var unreadable = 0
    /// Unreadable values whose bytes fail their checksum.
    private(set) var damaged = 0
    private var isDamageNoted = false
    /// Entries whose values only the memory of another process holds.
    private(set) var inMemoryOnly = 0
    var transcoded: Int { documents.transcoded }
    /// Unreadable values that are property lists beyond the limits.
    var oversized: Int { documents.oversized }

    private enum State {
        case unread
        case readable
        case unreadable
    }

    /// Begins with the current entry of `source` as the row.
    init(_ source: any QueryCursor, names: [String], now: Timestamp) {
        self.source = source
        self.now = now
        scan = .allocate(capacity: 1)
        scan.initialize(to: PropertyScan(names: names))
    }

    deinit {
        scan.deinitialize(count: 1)
        scan.deallocate()
    }

    // MARK: Which row it is

    /// The cursor, if the row is its current entry.
    var cursor: (any QueryCursor)? { isEntry ? source : nil }

    /// Call after the cursor has advanced.
    @inline(__always)
    func next() {
        state = .unread
        content = nil
        isDamageNoted = false
    }

    /// Makes a kept row the current one while `body` runs.
    func show<Result>(_ row: KeptRow, _ body: () throws -> Result) rethrows -> Result {
        isEntry = false
        facts = row.facts
        guard let document = row.document else {
            (content, state) = (nil, .unreadable)
            return try body()
        }
        return try document.withUnsafeBytes { bytes in
            (content, state) = (bytes, .readable)
            if !row.hasColumns, (try? scan.pointee.begin(bytes)) == nil { state = .unreadable }
            defer { (content, state) = (nil, .unreadable) }
            return try body()
        }
    }

    /// Replaces the row's value by these columns while `body` runs. The entry's metadata stay available.
    func show<Result>(columns: [UInt8], _ body: () throws -> Result) rethrows -> Result {
        let before = (content, state)
        defer { (content, state) = before }
        return try columns.withUnsafeBytes { bytes in
            (content, state) = (bytes, .readable)
            return try body()
        }
    }

    // MARK: What it has

    /// The value as one CBOR item; nil if it is unreadable. Throws read errors of the source.
    func document() throws(RowFault) -> UnsafeRawBufferPointer? {
        if state == .unread {
            do throws(RowFault) { try load() } catch .unreadable {}
        }
        return content
    }

    private func load() throws(RowFault) {
        state = .unreadable
        guard isEntry else { throw .unreadable }
        let found: QueryCursorValue
        do { found = try source.loadValue() } catch { throw .source(error) }
        guard found.reading != .gone else { throw .gone }
        guard let value = found.content else {
            if found.reading == .present { inMemoryOnly += 1 } else { noteDamage() }
            throw .unreadable
        }
        guard let document = documents.document(value, found.encoding) else {
            unreadable += 1
            throw .unreadable
        }
        valuesRead += 1
        bytesRead += value.count
        content = document
        do throws(CBORError) {
            try scan.pointee.begin(document)
            state = .readable
        } catch {
            unreadable += 1
            content = nil
            throw .unreadable
        }
    }

    /// Reads the entry, and returns whether it still exists.
    func isPresent() throws(RowFault) -> Bool { try reading() != .gone }

    private func reading() throws(RowFault) -> QueryCursorReading {
        guard isEntry else { return .present }
        let reading: QueryCursorReading
        do { reading = try source.load() } catch { throw .source(error) }
        if reading == .damaged { noteDamage() }
        return reading
    }

    /// Counts each damaged entry once.
    private func noteDamage() {
        guard !isDamageNoted else { return }
        isDamageNoted = true
        unreadable += 1
        damaged += 1
    }

    /// The bytes that contain a property of the value, and its offset in them; nil without one.
    @inline(__always)
    func place(ofProperty name: Int) throws(RowFault) -> (bytes: UnsafeRawBufferPointer, place: Int)? {
        try loadIfUnread()
        do throws(CBORError) {
            guard let content, let place = try scan.pointee.place(of: name) else { return nil }
            return (content, place)
        } catch {
            throw spoiled()
        }
    }

    @inline(__always)
    private func loadIfUnread() throws(RowFault) {
        if state == .readable { return }
        guard state == .unread else { throw .unreadable }
        try load()
    }

    func item(_ access: RowShape.Access) throws(RowFault) -> StoredItem {
        switch access {
        case .property(let name, let rest):
            try loadIfUnread()
            do throws(CBORError) {
                guard let content, let place = try scan.pointee.place(of: name) else { return .absent }
                if rest.isEmpty { return try StoredItem.read(content, at: place) }
                return try Self.follow(rest, content, from: place).map { (place) throws(CBORError) in
                    try StoredItem.read(content, at: place)
                } ?? .absent
            } catch {
                throw spoiled()
            }
        case .metadata(let metadata): return try item(metadata)
        case .column(let index, let rest):
            do throws(CBORError) {
                guard let content, let place = try Self.column(index, content, rest) else { return .absent }
                return try StoredItem.read(content, at: place)
            } catch {
                throw spoiled()
            }
        case .nothing: return .absent
        }
    }

    /// The encoded form of `item(_:)`; nil if it is absent.
    func encoded(_ access: RowShape.Access) throws(RowFault) -> [UInt8]? {
        if case .metadata(let metadata) = access { return try encoded(metadata) }
        let item = try item(access)
        if case .absent = item { return nil }
        do throws(CBORError) {
            guard let content, let place = try place(access) else { return nil }
            var reader = CBORReader(content, at: place)
            try reader.skipItem()
            return Array(content[place..<reader.offset])
        } catch {
            throw spoiled()
        }
    }

    private func place(_ access: RowShape.Access) throws(CBORError) -> Int? {
        guard let content else { return nil }
        switch access {
        case .property(let name, let rest):
            guard let place = try scan.pointee.place(of: name) else { return nil }
            return try Self.follow(rest, content, from: place)
        case .column(let index, let rest): return try Self.column(index, content, rest)
        case .metadata, .nothing: return nil
        }
    }

    /// Marks the value as unreadable, for a fault that was found after its start.
    func spoiled() -> RowFault {
        if state != .unreadable { unreadable += 1 }
        state = .unreadable
        return .unreadable
    }

    // MARK: Ways through a value

    /// The offset that a path from an item leads to; nil if it leads nowhere.
    private static func follow(
        _ steps: [QueryProperty.Step], _ bytes: UnsafeRawBufferPointer, from place: Int
    ) throws(CBORError) -> Int? {
        var reader = CBORReader(bytes, at: place)
        for step in steps {
            switch step {
            case .name(let name):
                try stepOverTags(&reader)
                guard try reader.enterMap(atKey: name) else { return nil }
            case .index(let index):
                guard try enter(&reader, at: index) else { return nil }
            }
        }
        return reader.offset
    }

    private static func stepOverTags(_ reader: inout CBORReader) throws(CBORError) {
        while true {
            let before = reader
            guard case .tag = try reader.readHead() else {
                reader = before
                return
            }
        }
    }

    /// Moves from the start of an array to one of its elements. Returns false if there is no such element, or no
    /// array.
    private static func enter(_ reader: inout CBORReader, at index: Int) throws(CBORError) -> Bool {
        try stepOverTags(&reader)
        guard case .array(let count) = try reader.readHead() else { return false }
        if let count, index >= count { return false }
        for _ in 0..<index {
            if count == nil, reader.readBreak() { return false }
            try reader.skipItem()
        }
        return count != nil || !reader.readBreak()
    }

    private static func column(
        _ index: Int, _ bytes: UnsafeRawBufferPointer, _ rest: [QueryProperty.Step]
    ) throws(CBORError) -> Int? {
        var reader = CBORReader(bytes)
        guard try enter(&reader, at: index) else { return nil }
        return try follow(rest, bytes, from: reader.offset)
    }

    // MARK: Metadata

    private func item(_ metadata: QueryMetadata) throws(RowFault) -> StoredItem {
        if isEntry {
            if metadata.isInFrame {
                switch try reading() {
                case .present: break
                case .gone: throw .gone
                case .damaged: throw .unreadable
                }
            }
            return metadata == .key ? .text(source.keyBytes) : metadata.item(of: source, now: now)
        }
        return facts.map { metadata.item(of: $0, now: now) } ?? .absent
    }

    private func encoded(_ metadata: QueryMetadata) throws(RowFault) -> [UInt8]? {
        var writer = CBORWriter()
        switch try item(metadata) {
        case .text(let text): writer.write(utf8: text)
        case .string(let text): writer.write(text)
        case .number(.integer(let number)): writer.write(wide: number)
        case .number(let number): writer.write(number.double)
        case .date(let seconds):
            writer.write(tag: 1)
            writer.write(Date(timeIntervalSinceReferenceDate: seconds).timeIntervalSince1970)
        default: return nil
        }
        return writer.bytes
    }

    /// The entry's metadata; nil if the row has no entry.
    func entryFacts() throws(RowFault) -> EntryFacts? {
        guard let cursor else { return facts }
        guard try isPresent() else { throw .gone }
        return EntryFacts(cursor)
    }
}
