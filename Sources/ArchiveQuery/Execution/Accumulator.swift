import CBOR

struct FigureQuestion {
    let figure: QueryAggregate
    let access: RowShape.Access
    /// Counts the kinds of the values, and those that an aggregate of numbers ignores.
    let counter: KindCounts
    /// Counts the kinds of the results of least and greatest values.
    private let results: KindCounts?

    init(_ figure: QueryAggregate, _ shape: RowShape, _ diagnostics: QueryDiagnostics) {
        self.figure = figure
        // Distinct values are counted as they are stored.
        access =
            figure.property.map { property in
                if case .countDistinct = figure { return shape.access(to: property) }
                return shape.numericAccess(to: property)
            } ?? .nothing
        let wantsNumbers =
            switch figure {
            case .sum, .average, .median, .percentile: true
            case .count, .minimum, .maximum, .countDistinct: false
            }
        let property = figure.property ?? .named("")
        counter = diagnostics.counter(
            property, wanting: wantsNumbers ? .number : [], figure.description, .excluded)
        results = figure.extreme.map { diagnostics.counter($0, wanting: [], figure.description, .resulting) }
    }

    /// Counts the kind of a result, and the ignored values of other kinds.
    func note(_ extremes: KindExtremes) {
        let kind = extremes.chosen?.kind ?? []
        results?.count(kind)
        for other in extremes.all where other.kind != kind { counter.count(other.kind, times: other.count) }
    }
}

struct Accumulator {
    private var sum = NumberSum()
    /// The number of rows; for sums and means, the number of numbers.
    private var count = 0
    private var extremes = KindExtremes()
    /// The distinct values, or all numbers. Nil for aggregates that need neither.
    private var kept: KeptValues?
    /// Their bytes in the query's memory.
    private(set) var bytes = 0

    init(_ figure: QueryAggregate) {
        switch figure {
        case .countDistinct, .median, .percentile: kept = KeptValues()
        case .count, .sum, .average, .minimum, .maximum: break
        }
    }

    mutating func add(_ question: FigureQuestion, _ row: RowReader, _ budget: MemoryBudget) throws {
        switch question.figure {
        case .count: count += 1
        case .sum, .average, .median, .percentile:
            try row.forEachReadable(question.access) { item in
                question.counter.note(item.kind)
                guard case .number(let number) = item else { return question.counter.count(item.kind) }
                guard kept != nil else {
                    count += 1
                    return sum.add(number)
                }
                guard !number.isNaN else { return question.counter.count(.nan) }
                try take(MemoryLayout<NumberValue>.stride, of: budget)
                kept?.numbers.append(number)
            }
        case .countDistinct:
            for (key, _, _) in try row.groupKeys([question.access]) where key != .absent {
                guard kept?.values.insert(key).inserted == true else { continue }
                try take(key.bytes + 64, of: budget)
            }
        case .minimum: try keep(question, row, isGreatest: false)
        case .maximum: try keep(question, row, isGreatest: true)
        }
        if question.access.isMany { question.counter.countEach(row.kindsWithoutElements) }
    }

    /// Adds the state of rows that follow all of these, and takes over its memory.
    mutating func absorb(_ other: Accumulator, _ figure: QueryAggregate, _ budget: MemoryBudget) {
        sum.add(other.sum)
        count += other.count
        var added = 0
        switch figure {
        case .minimum: extremes.absorb(other.extremes, isGreatest: false)
        case .maximum: extremes.absorb(other.extremes, isGreatest: true)
        case .countDistinct:
            for key in other.kept?.values ?? [] where kept?.values.insert(key).inserted == true {
                added += key.bytes + 64
            }
        case .median, .percentile:
            kept?.numbers += other.kept?.numbers ?? []
            added = other.bytes
        case .count, .sum, .average: break
        }
        budget.use(added)
        bytes += added
    }

    private mutating func take(_ bytes: Int, of budget: MemoryBudget) throws {
        try budget.take(bytes)
        self.bytes += bytes
    }

    private mutating func keep(_ question: FigureQuestion, _ row: RowReader, isGreatest: Bool) throws {
        guard question.access.isMany else {
            let value = try row.sortValueIfReadable(question.access)
            return try extremes.add(value, isGreatest) { try row.encodedIfReadable(question.access) }
        }
        for (_, values, encoded) in try row.groupKeys([question.access]) {
            extremes.add(values[0], isGreatest) { encoded[0] }
        }
    }

    func encoded(_ question: FigureQuestion) -> [UInt8]? {
        var writer = CBORWriter()
        switch question.figure {
        case .count: writer.write(unsigned: UInt64(count))
        case .countDistinct: writer.write(unsigned: UInt64(kept?.values.count ?? 0))
        case .sum: return RowReader.encoded(.number(sum.total))
        case .average:
            guard count > 0 else { return nil }
            writer.write(sum.total.double / Double(count))
        case .minimum, .maximum:
            question.note(extremes)
            return extremes.chosen?.encoding
        case .median, .percentile:
            let percent = if case .percentile(_, let percent) = question.figure { percent } else { 50.0 }
            return kept?.percentile(percent).flatMap { RowReader.encoded(.number($0)) }
        }
        return writer.bytes
    }
}

/// The least or greatest value of each kind; the last row decides which kind is aggregated.
struct KindExtremes {
    struct Extreme {
        var kind: KindSet
        var count: Int
        var value: SortValue
        var encoding: [UInt8]?
    }

    private(set) var all: [Extreme] = []

    /// The extreme of the first kind in `aggregated` that has values.
    var chosen: Extreme? { Self.aggregated.lazy.compactMap { kind in all.first { $0.kind == kind } }.first }

    private static let aggregated: [KindSet] = [.number, .date, .text, .boolean]

    mutating func add(_ value: SortValue, _ isGreatest: Bool, _ encoding: () throws -> [UInt8]?) rethrows {
        let kind = value.kind
        guard !kind.isEmpty else { return }
        let place = all.firstIndex { $0.kind == kind }
        if let place, SortValue.compare(value, all[place].value, isDescending: isGreatest) >= 0 {
            all[place].count += 1
            return
        }
        var extreme = Extreme(kind: kind, count: (place.map { all[$0].count } ?? 0) + 1, value: value)
        if Self.aggregated.contains(kind) {
            // Nil if it is too long for the query's memory.
            guard let encoding = try encoding() else { return }
            extreme.encoding = encoding
        }
        if let place { all[place] = extreme } else { all.append(extreme) }
    }

    mutating func absorb(_ other: KindExtremes, isGreatest: Bool) {
        for extreme in other.all {
            add(extreme.value, isGreatest) { extreme.encoding }
            if let place = all.firstIndex(where: { $0.kind == extreme.kind }) {
                all[place].count += extreme.count - 1
            }
        }
    }
}

/// A sum: exact for integers of up to 64 bits; for others it corrects the rounding errors (Neumaier's summation).
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

private struct KeptValues {
    var values: Set<GroupKey> = []
    var numbers: [NumberValue] = []

    /// The percentile: one of the numbers, or interpolated linearly between two different ones.
    func percentile(_ percent: Double) -> NumberValue? {
        guard !numbers.isEmpty else { return nil }
        let sorted = numbers.sorted { NumberValue.compare($0, $1).map { $0 < 0 } ?? false }
        // In hundredths, so that whole percentages cause no rounding errors.
        let hundredths = percent * Double(sorted.count - 1)
        let lower = Int((hundredths / 100).rounded(.down))
        let part = (hundredths - Double(lower) * 100) / 100
        guard part > 0, lower + 1 < sorted.count,
            NumberValue.compare(sorted[lower], sorted[lower + 1]) != 0
        else { return sorted[lower] }
        let (low, high) = (sorted[lower].double, sorted[lower + 1].double)
        // The distance of the largest numbers may overflow.
        let distance = high - low
        return .float(distance.isFinite ? low + distance * part : low * (1 - part) + high * part)
    }
}
