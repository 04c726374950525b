import CBOR

/// An aggregate, prepared for many rows.
struct FigureQuestion {
    let figure: QueryAggregate
    let access: RowShape.Access
    /// Notes the kinds of the values, for aggregates of numbers.
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

/// Accumulates one aggregate of many rows.
struct Accumulator {
    private var sum = NumberSum()
    /// The number of rows; for sums and means, the number of numbers.
    private var count = 0
    private var best = SortValue.absent
    private var bestEncoding: [UInt8]?
    /// The different values, or all numbers. Nil for aggregates that need neither.
    private var kept: KeptValues?
    /// The bytes that these take of the query's memory.
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
                try take(Self.bytes(of: key), of: budget)
            }
        case .minimum: try keep(question.access, row, isGreatest: false)
        case .maximum: try keep(question.access, row, isGreatest: true)
        }
    }

    /// Takes what another one has of rows that come after all of these, and its bytes of memory, which are no longer the other's.
    mutating func absorb(_ other: Accumulator, _ figure: QueryAggregate, _ budget: MemoryBudget) {
        sum.add(other.sum)
        count += other.count
        var added = 0
        switch figure {
        case .minimum: keep(other.best, isGreatest: false) { other.bestEncoding }
        case .maximum: keep(other.best, isGreatest: true) { other.bestEncoding }
        case .countDistinct:
            for key in other.kept?.values ?? [] where kept?.values.insert(key).inserted == true {
                added += Self.bytes(of: key)
            }
        case .median, .percentile:
            kept?.numbers += other.kept?.numbers ?? []
            added = other.bytes
        case .count, .sum, .average: break
        }
        budget.use(added)
        bytes += added
    }

    private static func bytes(of key: GroupKey) -> Int { key.bytes + 64 }

    private mutating func take(_ bytes: Int, of budget: MemoryBudget) throws {
        try budget.take(bytes)
        self.bytes += bytes
    }

    private mutating func keep(_ access: RowShape.Access, _ row: RowReader, isGreatest: Bool) throws {
        if access.isMany {
            for (_, values, encoded) in try row.groupKeys([access]) {
                // Lists and objects have no order, here as elsewhere.
                if case .encoded = values[0] { continue }
                keep(values[0], isGreatest: isGreatest) { encoded[0] }
            }
        } else {
            let value = SortValue(try row.itemIfReadable(access))
            try keep(value, isGreatest: isGreatest) { try row.encodedIfReadable(access) }
        }
    }

    private mutating func keep(
        _ value: SortValue, isGreatest: Bool, _ encoded: () throws -> [UInt8]?
    ) rethrows {
        guard SortValue.compare(value, best, isDescending: isGreatest) < 0 else { return }
        best = value
        bestEncoding = try encoded()
    }

    /// The aggregate as one CBOR item; nil if there is none.
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

/// A sum of numbers: exact for integers; for others it corrects the accumulated rounding error (Neumaier's summation).
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
        add(number.double)
    }

    mutating func add(_ other: NumberSum) {
        integers += other.integers
        guard other.hasFloats else { return }
        hasFloats = true
        add(other.floats)
        lost += other.lost
    }

    private mutating func add(_ float: Double) {
        let sum = floats + float
        lost += floats.magnitude >= float.magnitude ? (floats - sum) + float : (float - sum) + floats
        floats = sum
    }

    var total: NumberValue {
        guard hasFloats else { return .integer(integers) }
        // With infinities the rounding error is NaN.
        return .float(floats.isFinite ? Double(integers) + floats + lost : Double(integers) + floats)
    }
}

/// The values that an aggregate must keep: different ones, or all numbers.
private struct KeptValues {
    var values: Set<GroupKey> = []
    var numbers: [NumberValue] = []

    /// The number that this share of the numbers lies below, interpolated linearly between two of them.
    func percentile(_ percent: Double) -> NumberValue? {
        guard !numbers.isEmpty else { return nil }
        let sorted = numbers.sorted { NumberValue.compare($0, $1).map { $0 < 0 } ?? false }
        // In hundredths, so that whole percentages cause no rounding errors.
        let hundredths = percent * Double(sorted.count - 1)
        let lower = Int((hundredths / 100).rounded(.down))
        let part = (hundredths - Double(lower) * 100) / 100
        guard part > 0, lower + 1 < sorted.count else { return sorted[lower] }
        let (low, high) = (sorted[lower].double, sorted[lower + 1].double)
        guard low != high else { return .float(low) }
        // The largest numbers may be further apart than any number is large.
        let distance = high - low
        return .float(distance.isFinite ? low + distance * part : low * (1 - part) + high * part)
    }
}

extension CBORWriter {
    fileprivate mutating func write(_ number: NumberValue) {
        if case .integer(let integer) = number { write(wide: integer) } else { write(number.double) }
    }
}

extension RowReader {
    /// Like ``forEachItem(_:_:)``, but ends at an unreadable value instead of throwing.
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
