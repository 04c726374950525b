import CBOR

/// A stage at work: takes rows one after the other and hands on what it makes of them. For one thread.
class RowSink {
    /// What reports call it.
    let name: String
    private(set) var rowsIn = 0
    /// Nanoseconds in this stage and those behind it; measured only where it was asked for.
    private(set) var nanoseconds: UInt64 = 0
    private let isTimed: Bool
    private static let clock = ContinuousClock()

    init(name: String, isTimed: Bool) {
        self.name = name
        self.isTimed = isTimed
    }

    /// Takes the row.
    /// - Returns: whether there is any use in another one.
    final func push(_ row: RowReader) throws -> Bool {
        rowsIn += 1
        guard isTimed else { return try take(row) }
        return try timed { try take(row) }
    }

    /// There are no more rows.
    final func end() throws {
        guard isTimed else { return try finish() }
        try timed { try finish() }
    }

    /// By itself: room for a moment of the clock, whose size only the running program knows, would be made for each row.
    @inline(never)
    private func timed<Result>(_ body: () throws -> Result) rethrows -> Result {
        let start = Self.clock.now
        defer {
            let (seconds, attoseconds) = start.duration(to: Self.clock.now).components
            nanoseconds += UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
        }
        return try body()
    }

    func take(_ row: RowReader) throws -> Bool { true }
    func finish() throws {}
}

/// What a query may keep in memory, for all of its stages together.
final class MemoryBudget {
    private let limit: Int
    private var used = 0
    /// The most that was used at a time.
    private(set) var peak = 0

    init(limit: Int) { self.limit = limit }

    func take(_ bytes: Int) throws(QueryError) {
        used += bytes
        peak = max(peak, used)
        if used > limit { throw .tooMuchMemory(limit: limit) }
    }

    /// Takes what a stage can't do without, be there room or not.
    func use(_ bytes: Int) {
        used += bytes
        peak = max(peak, used)
    }

    func hasRoom(for bytes: Int) -> Bool { used + bytes <= limit }

    func giveBack(_ bytes: Int) { used -= bytes }
}

/// Stages between two others.
class RowStage: RowSink {
    let next: RowSink

    init(name: String, isTimed: Bool, next: RowSink) {
        self.next = next
        super.init(name: name, isTimed: isTimed)
    }

    override func finish() throws { try next.end() }
}

final class FindStage: RowStage {
    private let condition: Condition

    init(_ condition: Condition, name: String, isTimed: Bool, next: RowSink) {
        self.condition = condition
        super.init(name: name, isTimed: isTimed, next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        do throws(RowFault) {
            guard try condition.isMet(by: row) else { return true }
        } catch .source(let error) {
            throw error
        } catch {
            // What can't be read matches nothing; the reader has counted it.
            return true
        }
        return try next.push(row)
    }
}

/// Lets rows through from one on, and up to another.
final class RangeStage: RowStage {
    private var toSkip: Int
    private var left: Int

    init(skipping count: Int, limit: Int, name: String, isTimed: Bool, next: RowSink) {
        toSkip = max(0, count)
        left = max(0, limit)
        super.init(name: name, isTimed: isTimed, next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard left > 0 else { return false }
        // An entry that is gone must not take the place of one that is there.
        guard try row.isThere() else { return true }
        if toSkip > 0 {
            toSkip -= 1
            return true
        }
        left -= 1
        return try next.push(row) && left > 0
    }
}

final class SelectStage: RowStage {
    private let accesses: [RowShape.Access]

    init(_ accesses: [RowShape.Access], name: String, isTimed: Bool, next: RowSink) {
        self.accesses = accesses
        super.init(name: name, isTimed: isTimed, next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard try row.isThere() else { return true }
        let columns = ColumnRow.encode(try accesses.map { try row.encodedIfReadable($0) })
        return try row.show(columns: columns) { try next.push(row) }
    }
}

/// Rows of columns: a CBOR array, in which undefined stands for what is absent.
enum ColumnRow {
    static func encode(_ columns: [[UInt8]?]) -> [UInt8] {
        var writer = CBORWriter()
        writer.beginArray(count: columns.count)
        var bytes = writer.bytes
        for column in columns { bytes.append(contentsOf: column ?? [0xf7]) }
        return bytes
    }

    static func decode(_ bytes: UnsafeRawBufferPointer) throws(CBORError) -> [[UInt8]?] {
        var reader = CBORReader(bytes)
        guard case .array(let count?) = try reader.readHead() else { return [] }
        var columns: [[UInt8]?] = []
        for _ in 0..<count {
            let start = reader.offset
            try reader.skipItem()
            let column = Array(bytes[start..<reader.offset])
            columns.append(column == [0xf7] ? nil : column)
        }
        return columns
    }
}

extension RowReader {
    /// Whether the row's entry is still there.
    func isThere() throws -> Bool {
        do throws(RowFault) {
            return try isPresent()
        } catch .source(let error) {
            throw error
        } catch {
            return false
        }
    }

    /// As ``item(_:)``; what can't be read is absent.
    func itemIfReadable(_ access: RowShape.Access) throws -> StoredItem {
        do throws(RowFault) {
            return try item(access)
        } catch .source(let error) {
            throw error
        } catch {
            return .absent
        }
    }

    /// As ``encoded(_:)``; what can't be read is absent.
    func encodedIfReadable(_ access: RowShape.Access) throws -> [UInt8]? {
        do throws(RowFault) {
            return try encoded(access)
        } catch .source(let error) {
            throw error
        } catch {
            return nil
        }
    }

    /// The row for later; nil if its entry is gone.
    func kept(_ form: KeptForm) throws -> KeptRow? {
        do throws(RowFault) {
            guard try isPresent() else { return nil }
            let document: [UInt8]?
            var hasColumns = false
            switch form {
            case .columns:
                document = try self.document().map { Array($0) }
                hasColumns = true
            case .value: document = try self.document().map { Array($0) }
            case .properties(let names): document = try properties(names)
            }
            return KeptRow(facts: try entryFacts(), document: document, hasColumns: hasColumns)
        } catch .source(let error) {
            throw error
        } catch {
            return nil
        }
    }
}
