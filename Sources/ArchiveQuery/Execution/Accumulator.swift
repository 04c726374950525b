import CBOR

/// A figure made ready to be taken of many rows.
struct FigureQuestion {
    let figure: QueryAggregate
    let access: RowShape.Access
    /// Where the kinds of values are noted that numbers are wanted of.
    let sight: Sight

    init(_ figure: QueryAggregate, _ shape: RowShape, _ answers: QueryAnswers) {
        self.figure = figure
        access = figure.property.map(shape.access) ?? .nothing
        let wantsNumbers =
            switch figure {
            case .sum, .average, .median, .percentile: true
            case .count, .minimum, .maximum, .countDistinct: false
            }
        sight = answers.sight(
            figure.property ?? .named(""), wanting: wantsNumbers ? .number : [], figure.description)
    }
}

/// A figure of many rows while they come.
struct Accumulator {
    private var sum = NumberSum()
    /// Rows; numbers for sums and means.
    private var count = 0
    private var best = SortValue.absent
    private var bestEncoding: [UInt8]?
    /// What is kept of each row: different values, or all numbers. Nil for figures that need neither.
    private var kept: KeptValues?
    /// What that takes of the query's memory.
    private(set) var bytes = 0

    init(_ figure: QueryAggregate) {
        switch figure {
        case .countDistinct, .median, .percentile: kept = KeptValues()
        case .count, .sum, .average, .minimum, .maximum: break
        }
    }

    mutating func add(
        _ question: FigureQuestion, _ row: RowReader, _ budget: MemoryBudget
    ) throws {
        switch question.figure {
        case .count: count += 1
        case .sum, .average:
            try row.forEachReadable(question.access) { item in
                question.sight.note(item.kind)
                guard case .number(let number) = item else { return }
                count += 1
                sum.add(number)
            }
        case .median, .percentile:
            try row.forEachReadable(question.access) { item in
                question.sight.note(item.kind)
                guard case .number(let number) = item, !number.isNaN else { return }
                try take(MemoryLayout<NumberValue>.stride, of: budget)
                kept?.numbers.append(number)
            }
        case .countDistinct:
            for (key, _, _) in try row.groupKeys([question.access]) where key != .absent {
                guard kept?.values.insert(key).inserted == true else { continue }
                try take(key.bytes + 64, of: budget)
            }
        case .minimum: try keep(question.access, row, isGreatest: false)
        case .maximum: try keep(question.access, row, isGreatest: true)
        }
    }

    private mutating func take(_ bytes: Int, of budget: MemoryBudget) throws {
        try budget.take(bytes)
        self.bytes += bytes
    }

    private mutating func keep(_ access: RowShape.Access, _ row: RowReader, isGreatest: Bool) throws {
        if access.isMany {
            for (_, values, encoded) in try row.groupKeys([access]) {
                keep(values[0], isGreatest) { encoded[0] }
            }
        } else {
            let value = SortValue(try row.itemIfReadable(access))
            try keep(value, isGreatest) { try row.encodedIfReadable(access) }
        }
    }

    private mutating func keep(
        _ value: SortValue, _ isGreatest: Bool, _ encoded: () throws -> [UInt8]?
    ) rethrows {
        guard SortValue.compare(value, best, isDescending: isGreatest) < 0 else { return }
        best = value
        bestEncoding = try encoded()
    }

    /// The figure as one CBOR item; nil if there is none.
    func encoded(_ figure: QueryAggregate) -> [UInt8]? {
        var writer = CBORWriter()
        switch figure {
        case .count: writer.write(unsigned: UInt64(count))
        case .countDistinct: writer.write(unsigned: UInt64(kept?.values.count ?? 0))
        case .sum: writer.write(sum.total)
        case .average:
            guard count > 0 else { return nil }
            writer.write(sum.total.double / Double(count))
        case .minimum, .maximum: return bestEncoding
        case .median, .percentile:
            let percent = if case .percentile(_, let percent) = figure { percent } else { 50.0 }
            guard let number = kept?.percentile(percent) else { return nil }
            writer.write(number)
        }
        return writer.bytes
    }
}

/// A sum of numbers: of integers exact, of others with what rounding has lost (A. Neumaier's summation).
private struct NumberSum {
    private var integers: Int128 = 0
    private var floats = 0.0
    private var lost = 0.0
    private var hasFloats = false

    mutating func add(_ number: NumberValue) {
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

    var total: NumberValue {
        guard hasFloats else { return .integer(integers) }
        // What infinities lose is no number.
        return .float(floats.isFinite ? Double(integers) + floats + lost : Double(integers) + floats)
    }
}

/// Values of many rows that a figure needs all of.
private struct KeptValues {
    var values: Set<GroupKey> = []
    var numbers: [NumberValue] = []

    /// The number that so many percent are below; between two of them in proportion to the distance.
    func percentile(_ percent: Double) -> NumberValue? {
        guard !numbers.isEmpty else { return nil }
        let sorted = numbers.sorted { NumberValue.compare($0, $1).map { $0 < 0 } ?? false }
        // Hundredths, so that whole percents make no rounding errors.
        let hundredths = percent * Double(sorted.count - 1)
        let lower = Int((hundredths / 100).rounded(.down))
        let part = (hundredths - Double(lower) * 100) / 100
        guard part > 0, lower + 1 < sorted.count else { return sorted[lower] }
        let (low, high) = (sorted[lower].double, sorted[lower + 1].double)
        return .float(low == high ? low : low + (high - low) * part)
    }
}

extension CBORWriter {
    fileprivate mutating func write(_ number: NumberValue) {
        if case .integer(let integer) = number { write(wide: integer) } else { write(number.double) }
    }
}

extension RowReader {
    /// As ``forEachItem(_:_:)``, up to what can't be read.
    func forEachReadable(_ access: RowShape.Access, _ body: (StoredItem) throws -> Void) throws {
        guard access.isMany else { return try body(try itemIfReadable(access)) }
        var thrown: (any Error)?
        do throws(RowFault) {
            try forEachItem(access) { item in
                do { try body(item) } catch { thrown = error }
                return thrown == nil
            }
        } catch .source(let error) {
            throw error
        } catch {
            return
        }
        if let thrown { throw thrown }
    }
}
