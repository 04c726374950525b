import CBOR
import StorageEngine

/// Why a row can't be read.
enum RowFault: Error {
    /// The value has an unknown encoding, or is only in the memory of another process.
    case unreadable
    /// The entry, including its key, is damaged, so it is no row.
    case damaged
    /// The entry was removed.
    case removed
    case source(any Error)
}

/// The current row, reused: the cursor's entry, read on demand; a kept one; or encoded columns. Not thread-safe.
final class RowReader {
    /// On the heap, because it changes with nearly every access: a property would need run-time exclusivity checks.
    private let scan: UnsafeMutablePointer<PropertyScan>
    private let names: PropertyNames
    private let documents: DocumentReader
    /// The memory limit of the query in bytes, which holds up to two copies of a value at a time.
    private let mostBytes: Int
    /// Names and paths that at least one value had, to report the others. Heap-allocated like `scan`.
    private let seenNames: UnsafeMutableBufferPointer<Bool>
    private let seenWays: UnsafeMutableBufferPointer<Bool>
    private let now: Timestamp
    /// Whether all parts of a condition are tested, even those that can't change its result, to find the kinds of values.
    let testsAll: Bool
    /// A constant, so that calls need no retain and release.
    private let source: any QueryCursor
    private var isEntry = true
    private var facts: EntryFacts?
    private var content: UnsafeRawBufferPointer?
    private var state = State.unread
    private(set) var valuesRead = 0
    private(set) var bytesRead = 0
    private(set) var unreadable = 0
    /// Kinds of the values, other than lists, that ended the latest path through a list's elements.
    private(set) var kindsWithoutElements = KindSet()
    /// Changes with each row, so that repeated calculations count once.
    private(set) var serial = 0
    /// Whether failed calculations and values without elements are counted; false while rows are read again.
    var countsFailures = true
    /// Unreadable values that fail their checksum.
    private(set) var damaged = 0
    private(set) var isDamageNoted = false
    /// Entries whose values are only in the memory of another process.
    private(set) var inMemoryOnly = 0
    var transcoded: Int { documents.transcoded }
    /// Unreadable values that are property lists beyond the limits.
    private(set) var oversized = 0
    /// Unreadable values that are too long for the query's memory, and the key of the first.
    private(set) var tooLong = 0
    private(set) var firstTooLong: String?

    private enum State {
        case unread
        case readable
        case unreadable
    }

    init(
        _ source: any QueryCursor, names: PropertyNames, now: Timestamp, mostBytes: Int = .max,
        testsAll: Bool = false
    ) {
        self.source = source
        self.testsAll = testsAll
        self.mostBytes = mostBytes
        documents = DocumentReader(mostBytes: mostBytes)
        self.now = now
        self.names = names
        scan = .allocate(capacity: 1)
        scan.initialize(to: PropertyScan(names: names.all))
        seenNames = .allocate(capacity: names.all.count)
        seenNames.initialize(repeating: false)
        seenWays = .allocate(capacity: names.ways.count)
        seenWays.initialize(repeating: false)
    }

    deinit {
        scan.deinitialize(count: 1)
        scan.deallocate()
        seenNames.deallocate()
        seenWays.deallocate()
    }

    func hasSeen(name: Int) -> Bool { seenNames[name] }
    func hasSeen(way: Int) -> Bool { seenWays[way] }

    // MARK: Current row

    var cursor: (any QueryCursor)? { isEntry ? source : nil }

    /// Call after the cursor has advanced.
    @inline(__always)
    func next() {
        serial &+= 1
        state = .unread
        content = nil
        isDamageNoted = false
    }

    /// Reads a kept row while `body` runs.
    func show<Result>(_ row: KeptRow, _ body: () throws -> Result) rethrows -> Result {
        isEntry = false
        serial &+= 1
        facts = row.facts
        isDamageNoted = row.isDamageNoted
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
        serial &+= 1
        defer { (content, state) = before }
        return try columns.withUnsafeBytes { bytes in
            (content, state) = (bytes, .readable)
            return try body()
        }
    }

    // MARK: Contents

    /// The value as one CBOR item; nil if unreadable. Throws read errors of the source.
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
        guard found.reading != .removed else { throw .removed }
        guard let value = found.content else {
            guard found.reading == .present else {
                noteDamage()
                throw .damaged
            }
            inMemoryOnly += 1
            throw .unreadable
        }
        let document: UnsafeRawBufferPointer
        do throws(ValueFault) { document = try documents.document(value, found.encoding) } catch {
            throw rejected(error)
        }
        valuesRead += 1
        bytesRead += value.count
        content = document
        do throws(CBORError) {
            try scan.pointee.begin(document)
            state = .readable
        } catch {
            content = nil
            throw rejected(.malformed)
        }
    }

    /// Counts the value as unreadable.
    private func rejected(_ fault: ValueFault) -> RowFault {
        unreadable += 1
        switch fault {
        case .malformed: break
        case .oversized: oversized += 1
        case .long:
            tooLong += 1
            if firstTooLong == nil { firstTooLong = isEntry ? source.key : facts?.key }
        }
        return .unreadable
    }

    /// Reads the entry, and returns whether it still exists undamaged; even the key of a damaged one is unknown.
    func isPresent() throws(RowFault) -> Bool { try reading() == .present }

    private func reading() throws(RowFault) -> QueryCursorReading {
        guard isEntry else { return .present }
        let reading: QueryCursorReading
        do { reading = try source.load() } catch { throw .source(error) }
        if reading == .damaged { noteDamage() }
        return reading
    }

    private func noteDamage() {
        guard !isDamageNoted else { return }
        isDamageNoted = true
        unreadable += 1
        damaged += 1
    }

    /// The bytes that contain a property of the value, and its offset; nil without one.
    @inline(__always)
    func place(ofProperty name: Int) throws(RowFault) -> (bytes: UnsafeRawBufferPointer, place: Int)? {
        try loadIfUnread()
        do throws(CBORError) {
            guard let content, let place = try scan.pointee.place(of: name) else { return nil }
            seenNames[name] = true
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

    /// Absent for all elements of a list; use ``forEachItem(_:_:)`` for these.
    func item(_ access: RowShape.Access) throws(RowFault) -> StoredItem {
        switch access {
        case .property, .column: return try element(at: try place(access))
        case .keyColumn(let index):
            switch try item(.column(index, [])) {
            case .text(let text): return .key(.bytes(text))
            case .string(let text): return .key(.string(text))
            case let other: return other
            }
        case .metadata(let metadata): return try item(metadata)
        case .computed(let computation): return try computation.result(self)
        case .elements, .nothing: return .absent
        }
    }

    /// Calls `body` with the property's item, which may be absent, or with each element of a list until it returns false.
    func forEachItem(
        _ access: RowShape.Access, _ body: (StoredItem) throws(RowFault) -> Bool
    ) throws(RowFault) {
        guard case .elements(let elements) = access else {
            _ = try body(try item(access))
            return
        }
        for place in try places(elements) {
            let item = try element(at: place)
            guard try body(elements.readsNumbers ? item.orNumber : item) else { return }
        }
    }

    @inline(__always)
    private func element(at place: Int?) throws(RowFault) -> StoredItem {
        guard let place, let content else { return .absent }
        do throws(CBORError) { return try StoredItem.read(content, at: place) } catch { throw spoiled() }
    }

    /// The encoded form of `item(_:)`, nil if absent; for elements of a list, an encoded array.
    func encoded(_ access: RowShape.Access) throws(RowFault) -> [UInt8]? {
        switch access {
        case .metadata(let metadata): return Self.encoded(try item(metadata))
        case .computed(let computation): return Self.encoded(try computation.result(self))
        case .elements(let elements):
            let places = try places(elements)
            var writer = CBORWriter()
            writer.beginArray(count: places.count)
            for place in places {
                if let place { writer.write(encoded: try encoded(at: place)) } else { writer.writeNull() }
            }
            return writer.bytes
        case .property, .column, .keyColumn, .nothing:
            return try bytes(access).map { (bytes) throws(RowFault) in try copy(bytes) }
        }
    }

    /// The encoded form of a property or column; nil if absent.
    private func bytes(_ access: RowShape.Access) throws(RowFault) -> UnsafeRawBufferPointer? {
        if case .keyColumn(let index) = access { return try bytes(.column(index, [])) }
        guard let place = try place(access) else { return nil }
        if case .absent = try element(at: place) { return nil }
        return try bytes(at: place)
    }

    /// A map of only these properties; nil if the value is unreadable.
    func properties(_ numbers: [Int]) throws(RowFault) -> [UInt8]? {
        if !numbers.isEmpty, try document() == nil { return nil }
        var found: [(name: String, value: [UInt8])] = []
        do throws(RowFault) {
            for number in numbers {
                guard let (_, place) = try place(ofProperty: number) else { continue }
                found.append((names.all[number], try encoded(at: place)))
            }
        } catch .unreadable {
            return nil
        }
        var writer = CBORWriter()
        writer.beginMap(count: found.count)
        for (name, value) in found {
            writer.write(name)
            writer.write(encoded: value)
        }
        return writer.bytes
    }

    func encodedItems(
        _ elements: RowShape.Elements
    ) throws(RowFault) -> [(item: StoredItem, encoded: [UInt8]?)] {
        var items: [(item: StoredItem, encoded: [UInt8]?)] = []
        for place in try places(elements) {
            let found = try element(at: place)
            let item = elements.readsNumbers ? found.orNumber : found
            if found.isText, !item.isText {
                items.append((item, Self.encoded(item)))
            } else if case .absent = item {
                items.append((item, nil))
            } else if let place {
                items.append((item, try encoded(at: place)))
            }
        }
        return items
    }

    private func encoded(at place: Int) throws(RowFault) -> [UInt8] { try copy(try bytes(at: place)) }

    private func bytes(at place: Int) throws(RowFault) -> UnsafeRawBufferPointer {
        guard let content else { throw .unreadable }
        var reader = CBORReader(content, at: place)
        do throws(CBORError) { try reader.skipItem() } catch { throw spoiled() }
        return UnsafeRawBufferPointer(rebasing: content[place..<reader.offset])
    }

    /// A copy that may be kept. Throws if it would take too much memory, which makes the value unreadable.
    func copy(_ bytes: UnsafeRawBufferPointer) throws(RowFault) -> [UInt8] {
        guard bytes.count <= mostBytes / 2 else { throw spoiled(.long) }
        return Array(bytes)
    }

    /// The encoded form of a property, without a copy if possible; copies are added to `kept`. Nil if absent or unreadable.
    func encodedInPlace(
        _ access: RowShape.Access, _ kept: inout [UnsafeMutableRawBufferPointer]
    ) throws -> UnsafeRawBufferPointer? {
        switch access {
        case .property, .column, .keyColumn, .nothing:
            return try ifReadable { () throws(RowFault) in try bytes(access) } ?? nil
        case .metadata, .computed, .elements: break
        }
        guard let encoded = try encodedIfReadable(access) else { return nil }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: encoded.count, alignment: 1)
        copy.copyBytes(from: encoded)
        kept.append(copy)
        return UnsafeRawBufferPointer(copy)
    }

    private func place(_ access: RowShape.Access) throws(RowFault) -> Int? {
        if case .property = access { try loadIfUnread() }
        do throws(CBORError) {
            switch access {
            case .property(let name, let rest, let way):
                guard let content, let place = try scan.pointee.place(of: name) else { return nil }
                if rest.isEmpty {
                    seenNames[name] = true
                    return place
                }
                guard let end = try Self.follow(rest, content, from: place) else { return nil }
                seenWays[way] = true
                return end
            case .column(let index, let rest):
                guard let content else { return nil }
                return try Self.column(index, content, rest)
            case .metadata, .keyColumn, .elements, .computed, .nothing: return nil
            }
        } catch {
            throw spoiled()
        }
    }

    /// The offsets of the elements; nil for an element without the rest of the path.
    private func places(_ elements: RowShape.Elements) throws(RowFault) -> [Int?] {
        var places: [Int?] = []
        kindsWithoutElements = []
        if case .property = elements.start { try loadIfUnread() }
        defer { if countsFailures { elements.counter?.countEach(kindsWithoutElements) } }
        do throws(CBORError) {
            switch elements.start {
            case .property(let name, let way):
                guard let content, let start = try scan.pointee.place(of: name) else { return [] }
                try Self.collect(
                    elements.steps[...], content, from: start, into: &places, &kindsWithoutElements)
                guard !seenWays[way] else { return places }
                // Count the property as seen: elements of an empty list could have it.
                seenWays[way] =
                    try places.isEmpty
                    ? Self.isEmptyList(elements.steps, content, from: start) : places.contains { $0 != nil }
            case .column(let index):
                guard let content, let start = try Self.column(index, content, []) else { return [] }
                try Self.collect(
                    elements.steps[...], content, from: start, into: &places, &kindsWithoutElements)
            }
        } catch {
            throw spoiled()
        }
        return places
    }

    /// - Throws: if a copy of the elements of a list or map may take more than the query's memory.
    func checkElements(of item: StoredItem) throws(RowFault) {
        // An element in memory takes some 40 bytes.
        let most = max(mostBytes / 64, 64 << 10)
        guard let content, content.count > most else { return }
        let start: CBORReader
        var reader: CBORReader
        var left: Int
        switch item {
        case .array(let first, let count): (start, reader, left) = (first, first, count ?? .max)
        case .map(let first, let count): (start, reader, left) = (first, first, count.map { 2 * $0 } ?? .max)
        default: return
        }
        do throws(CBORError) {
            while left > 0, left <= content.count || !reader.readBreak() {
                try reader.skipItem()
                left -= 1
            }
        } catch {
            throw spoiled()
        }
        guard reader.offset - start.offset <= most else { throw spoiled(.long) }
    }

    /// Marks the value as unreadable, for a fault that was found after its start.
    func spoiled(_ fault: ValueFault = .malformed) -> RowFault {
        guard state != .unreadable else { return .unreadable }
        state = .unreadable
        return rejected(fault)
    }

    // MARK: Paths

    /// The offset at the end of a path; nil without one.
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
            case .each: return nil
            }
        }
        return reader.offset
    }

    /// Whether the first list on the path is empty.
    private static func isEmptyList(
        _ steps: [QueryProperty.Step], _ bytes: UnsafeRawBufferPointer, from place: Int
    ) throws(CBORError) -> Bool {
        let way = Array(steps.prefix { $0 != .each })
        guard let list = try follow(way, bytes, from: place) else { return false }
        let item = try StoredItem.read(bytes, at: list)
        guard case .array = item else { return false }
        return try item.count() == 0
    }

    /// Like `follow`, through all elements of lists: appends offsets, nil for an element without the path.
    private static func collect(
        _ steps: ArraySlice<QueryProperty.Step>, _ bytes: UnsafeRawBufferPointer, from place: Int,
        into places: inout [Int?], _ others: inout KindSet
    ) throws(CBORError) {
        guard let each = steps.firstIndex(of: .each) else {
            places.append(try follow(Array(steps), bytes, from: place))
            return
        }
        guard let list = try follow(Array(steps[..<each]), bytes, from: place) else { return }
        var reader = CBORReader(bytes, at: list)
        try stepOverTags(&reader)
        guard case .array(let count) = try reader.readHead() else {
            others.formUnion(try StoredItem.read(bytes, at: list).kind)
            return
        }
        var read = 0
        while count.map({ read < $0 }) ?? !reader.readBreak() {
            let start = reader.offset
            try reader.skipItem()
            try collect(steps[(each + 1)...], bytes, from: start, into: &places, &others)
            read += 1
        }
    }

    /// Except for decimal fractions and large floats (RFC 8949, 3.4.4), whose arrays are no lists.
    private static func stepOverTags(_ reader: inout CBORReader) throws(CBORError) {
        while true {
            let before = reader
            guard case .tag(let tag) = try reader.readHead(), tag != 4, tag != 5 else {
                reader = before
                return
            }
        }
    }

    /// Moves from the start of an array to an element; false without one.
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
        guard isEntry else {
            guard let facts else { return .absent }
            if facts.unknown.contains(metadata) {
                noteDamage()
                throw .damaged
            }
            return metadata.item(of: facts, now: now)
        }
        if metadata == .key { return .key(.bytes(try key())) }
        if metadata.isInFrame { try check(try reading()) }
        if source.unknown.contains(metadata) {
            noteDamage()
            throw .damaged
        }
        return metadata.item(of: source, now: now)
    }

    private func key() throws(RowFault) -> UnsafeRawBufferPointer {
        let (reading, key): (QueryCursorReading, UnsafeRawBufferPointer)
        do { (reading, key) = try source.loadKey() } catch { throw .source(error) }
        if reading == .damaged { noteDamage() }
        try check(reading)
        return key
    }

    private func check(_ reading: QueryCursorReading) throws(RowFault) {
        switch reading {
        case .present: break
        case .removed: throw .removed
        case .damaged: throw .damaged
        }
    }

    static func encoded(_ item: StoredItem) -> [UInt8]? {
        var writer = CBORWriter()
        switch item {
        case .text(let text): writer.write(utf8: text)
        case .string(let text): writer.write(text)
        case .key(let key): key.withBytes { writer.write(utf8: $0) }
        case .boolean(let flag): writer.write(flag)
        case .number(.integer(let number)): writer.write(wide: number)
        case .number(.decimal(let number)):
            return try? JSONTranscoder.cbor(from: NumberValue.decimal(number).text)
        case .number(.bignum(let number)): writer.write(whole: number)
        case .number(let number): writer.write(number.double)
        case .date(let seconds):
            writer.write(tag: 1)
            writer.write(Microseconds.seconds(from: Microseconds.start, to: seconds))
        default: return nil
        }
        return writer.bytes
    }

    func entryFacts() throws(RowFault) -> EntryFacts? {
        guard let cursor else { return facts }
        guard try isPresent() else { throw .removed }
        return EntryFacts(cursor)
    }
}
