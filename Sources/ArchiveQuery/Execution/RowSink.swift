import CBOR
import StorageEngine

/// A running stage: receives rows and passes on its results. Not thread-safe.
class RowSink {
    /// The stage as text; empty for the receiver of the last stage's rows.
    final var name = ""
    @exclusivity(unchecked) final var isTimed = false
    private(set) var rowsIn = 0
    /// Nanoseconds in this stage and those after it, if measured.
    private(set) var nanoseconds: UInt64 = 0
    private static let clock = ContinuousClock()

    /// Processes the row. Returns whether the stage can use another row.
    final func push(_ row: RowReader) throws -> Bool {
        rowsIn += 1
        guard isTimed else { return try take(row) }
        return try timed { try take(row) }
    }

    final func end() throws {
        guard isTimed else { return try finish() }
        try timed { try finish() }
    }

    /// Separate, because the size of `ContinuousClock.Instant` is known only at run time, which would slow down every row.
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

    var hasFiles: Bool { false }

    /// Counts rows that another thread received for this stage.
    final func count(rows: Int) { rowsIn += rows }

    /// Merges the state of the same stage for a later part of the entries.
    func absorb(_ part: RowSink) {}

    /// Called before each row; `number` is at most the place of the row's entry in the cursor's order.
    func begin(at number: Int) {}
}

class RowStage: RowSink {
    let next: RowSink

    init(next: RowSink) { self.next = next }

    override func finish() throws { try next.end() }
}

final class FindStage: RowStage {
    private let condition: Condition
    private let undecided: KindCounts

    init(_ condition: Condition, _ undecided: KindCounts, next: RowSink) {
        self.condition = condition
        self.undecided = undecided
        super.init(next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        do throws(RowFault) {
            switch try condition.test(row) {
            case .yes: break
            case .no: guard row.testsAll else { return true }
            case .unknown:
                undecided.count(.other)
                guard row.testsAll else { return true }
            }
        } catch .source(let error) {
            throw error
        } catch {
            // An unreadable value matches nothing; the reader has counted it.
            return true
        }
        return try next.push(row)
    }
}

final class RangeStage: RowStage {
    private var toSkip: Int
    private var left: Int

    init(skipping count: Int = 0, limit: Int = .max, next: RowSink) {
        toSkip = max(0, count)
        left = max(0, limit)
        super.init(next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard left > 0 else { return false }
        // A removed entry must not count toward the limit.
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

    init(_ accesses: [RowShape.Access], next: RowSink) {
        self.accesses = accesses
        super.init(next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard try row.isThere() else { return true }
        if let output = next as? OutputSink { return try output.take(row, accesses) }
        let columns = ColumnRow.encode(try accesses.map { try row.encodedIfReadable($0) })
        return try row.show(columns: columns) { try next.push(row) }
    }
}

/// Encodes rows of columns as a CBOR array, with undefined for absent ones.
enum ColumnRow {
    static func encode(_ columns: [[UInt8]?]) -> [UInt8] {
        var writer = CBORWriter()
        writer.beginArray(count: columns.count)
        for column in columns { writer.write(encoded: column ?? [0xf7]) }
        return writer.bytes
    }

    /// The columns in `bytes`.
    static func decode(_ bytes: UnsafeRawBufferPointer) throws(CBORError) -> [UnsafeRawBufferPointer?] {
        var reader = CBORReader(bytes)
        guard case .array(let count?) = try reader.readHead() else { return [] }
        var columns: [UnsafeRawBufferPointer?] = []
        for _ in 0..<count {
            let start = reader.offset
            try reader.skipItem()
            let column = UnsafeRawBufferPointer(rebasing: bytes[start..<reader.offset])
            columns.append(column.elementsEqual([0xf7]) ? nil : column)
        }
        return columns
    }
}
