import CBOR

/// Accumulates the aggregates of many rows.
struct Accumulator {
    private var integers: Int128 = 0
    /// The sum of all non-integers, and its accumulated rounding error (Neumaier's summation).
    private var floats = 0.0
    private var lost = 0.0
    private var hasFloats = false
    /// The number of rows; for sums and means, the number of numbers.
    private var count = 0
    private var best = SortValue.absent
    private var bestEncoding: [UInt8]?

    mutating func add(_ figure: QueryAggregate, _ access: RowShape.Access, _ row: RowReader) throws {
        switch figure {
        case .count: count += 1
        case .sum, .average:
            if case .number(let number) = try row.itemIfReadable(access) { add(number) }
        case .minimum, .maximum:
            let value = SortValue(try row.itemIfReadable(access))
            let isGreatest = if case .maximum = figure { true } else { false }
            guard SortValue.compare(value, best, isDescending: isGreatest) < 0 else { return }
            best = value
            bestEncoding = try row.encodedIfReadable(access)
        }
    }

    private mutating func add(_ number: NumberValue) {
        count += 1
        if case .integer(let integer) = number {
            integers += integer
            return
        }
        hasFloats = true
        let float = number.double
        let sum = floats + float
        lost += floats.magnitude >= float.magnitude ? (floats - sum) + float : (float - sum) + floats
        floats = sum
    }

    private var sum: NumberValue {
        guard hasFloats else { return .integer(integers) }
        // With infinities the rounding error is NaN.
        return .float(floats.isFinite ? Double(integers) + floats + lost : Double(integers) + floats)
    }

    /// The aggregate as one CBOR item; nil if there is none.
    func encoded(_ figure: QueryAggregate) -> [UInt8]? {
        var writer = CBORWriter()
        switch figure {
        case .count: writer.write(unsigned: UInt64(count))
        case .sum:
            switch sum {
            case .integer(let number): writer.write(wide: number)
            case let number: writer.write(number.double)
            }
        case .average:
            guard count > 0 else { return nil }
            writer.write(sum.double / Double(count))
        case .minimum, .maximum: return bestEncoding
        }
        return writer.bytes
    }
}

/// One row with aggregates of all rows.
final class AggregateStage: RowStage {
    private let figures: [(figure: QueryAggregate, access: RowShape.Access)]
    private let reader: RowReader
    private var accumulators: [Accumulator]

    init(
        _ figures: [(figure: QueryAggregate, access: RowShape.Access)], reader: RowReader, name: String,
        isTimed: Bool, next: RowSink
    ) {
        self.figures = figures
        self.reader = reader
        accumulators = figures.map { _ in Accumulator() }
        super.init(name: name, isTimed: isTimed, next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        for place in figures.indices {
            try accumulators[place].add(figures[place].figure, figures[place].access, row)
        }
        return true
    }

    override func finish() throws {
        let columns = zip(accumulators, figures).map { $0.encoded($1.figure) }
        let row = KeptRow(facts: nil, document: ColumnRow.encode(columns), hasColumns: true)
        _ = try reader.show(row) { try next.push(reader) }
        try next.end()
    }
}

/// One row with aggregates for each value of a property.
final class GroupStage: RowStage {
    private struct Group {
        var order: SortValue
        var encoded: [UInt8]?
        var accumulators: [Accumulator]

        /// Values without an order, such as arrays, come last, sorted by their encodings.
        func precedes(_ other: Group) -> Bool {
            let order = SortValue.compare(order, other.order, isDescending: false)
            if order != 0 { return order < 0 }
            guard let encoded, let theirs = other.encoded else { return encoded != nil }
            return encoded.lexicographicallyPrecedes(theirs)
        }
    }

    private let access: RowShape.Access
    private let figures: [(figure: QueryAggregate, access: RowShape.Access)]
    private let reader: RowReader
    private let budget: MemoryBudget
    private var groups: [GroupKey: Group] = [:]

    init(
        by access: RowShape.Access, _ figures: [(figure: QueryAggregate, access: RowShape.Access)],
        reader: RowReader, budget: MemoryBudget, name: String, isTimed: Bool, next: RowSink
    ) {
        self.access = access
        self.figures = figures
        self.reader = reader
        self.budget = budget
        super.init(name: name, isTimed: isTimed, next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard let (key, item) = try row.groupKey(access) else { return true }
        if groups[key] == nil {
            try budget.take(2 * key.bytes + 160 + 160 * figures.count)
            groups[key] = Group(
                order: SortValue(item), encoded: try row.encodedIfReadable(access),
                accumulators: figures.map { _ in Accumulator() })
        }
        for place in figures.indices {
            try groups[key]?.accumulators[place].add(figures[place].figure, figures[place].access, row)
        }
        return true
    }

    override func finish() throws {
        let sorted = groups.values.sorted { $0.precedes($1) }
        groups = [:]
        for group in sorted {
            let figures = zip(group.accumulators, figures).map { $0.encoded($1.figure) }
            let row = KeptRow(
                facts: nil, document: ColumnRow.encode([group.encoded] + figures), hasColumns: true)
            guard try reader.show(row, { try next.push(reader) }) else { break }
        }
        try next.end()
    }
}

/// The different values of a property, as rows of one column, in order of first appearance.
final class DistinctStage: RowStage {
    private let access: RowShape.Access
    private let budget: MemoryBudget
    private var seen: Set<GroupKey> = []

    init(_ access: RowShape.Access, budget: MemoryBudget, name: String, isTimed: Bool, next: RowSink) {
        self.access = access
        self.budget = budget
        super.init(name: name, isTimed: isTimed, next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard try row.isThere(), let (key, _) = try row.groupKey(access), seen.insert(key).inserted else {
            return true
        }
        try budget.take(key.bytes + 96)
        let columns = ColumnRow.encode([try row.encodedIfReadable(access)])
        return try row.show(columns: columns) { try next.push(row) }
    }
}

extension RowReader {
    /// The row's group; nil if the entry is gone.
    fileprivate func groupKey(_ access: RowShape.Access) throws -> (key: GroupKey, item: StoredItem)? {
        do throws(RowFault) {
            let item = try item(access)
            return (try GroupKey(item) { () throws(RowFault) in try encoded(access) }, item)
        } catch .source(let error) {
            throw error
        } catch .unreadable {
            return (.absent, .absent)
        } catch {
            return nil
        }
    }
}
