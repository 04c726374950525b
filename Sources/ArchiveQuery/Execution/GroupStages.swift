final class AggregateStage: RowStage {
    private let figures: [FigureQuestion]
    private let reader: RowReader
    private let budget: MemoryBudget
    private var accumulators: [Accumulator]

    init(_ figures: [FigureQuestion], reader: RowReader, budget: MemoryBudget, next: RowSink) {
        self.figures = figures
        self.reader = reader
        self.budget = budget
        accumulators = figures.map { Accumulator($0.figure) }
        super.init(next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        for place in figures.indices { try accumulators[place].add(figures[place], row, budget) }
        return true
    }

    override func absorb(_ part: RowSink) {
        guard let part = part as? AggregateStage else { return }
        for place in figures.indices {
            accumulators[place].absorb(part.accumulators[place], figures[place].figure, budget)
        }
    }

    override func finish() throws {
        let columns = zip(accumulators, figures).map { $0.encoded($1) }
        accumulators = []
        let row = KeptRow(facts: nil, document: ColumnRow.encode(columns), hasColumns: true)
        _ = try reader.show(row) { try next.push(reader) }
        try next.end()
    }
}

/// A row with aggregates for each combination of values. Rows beyond the memory limit are grouped later, from files.
final class GroupStage: RowStage {
    private struct Group {
        var values: [GroupKey]
        var encoded: [[UInt8]?]
        var accumulators: [Accumulator]
        var bytes: Int
    }

    private let accesses: [RowShape.Access]
    private let figures: [FigureQuestion]
    private let form: KeptForm
    private let pool: QueryResources
    private var places: [GroupKey: Int] = [:]
    private var groups: [Group] = []
    /// Values of some grouped rows, with the index of each row's group.
    private var recent = RecentValues()
    private var placesOfMet: [Int] = []
    private let isMany: Bool
    private var depth = 0
    private var rest: RowPartitions?
    private let done: RowSorter

    init(
        by accesses: [RowShape.Access], _ figures: [FigureQuestion], form: KeptForm, pool: QueryResources,
        next: RowSink
    ) {
        self.accesses = accesses
        isMany = accesses.contains(where: \.isMany)
        self.figures = figures
        self.form = form
        self.pool = pool
        done = pool.sorter(accesses.columns.map { RowSorter.Key(access: $0) })
        super.init(next: next)
    }

    /// Groups that are kept even if other stages have used up the memory.
    private static let leastGroups = 64

    override func take(_ row: RowReader) throws -> Bool {
        guard !isMany else {
            for (number, combination) in try row.groupKeys(accesses).enumerated() {
                try add(row, number, to: combination)
            }
            return true
        }
        guard try row.look(for: accesses, in: &recent) else { return true }
        if let number = recent.number() {
            try add(row, to: placesOfMet[number])
            return true
        }
        guard let key = try row.groupKey(accesses) else { return true }
        if let place = places[key] {
            try add(row, to: place)
        } else if let combination = try row.groupKeys(accesses).first {
            try add(row, 0, to: combination)
        }
        if let place = places[key], let number = recent.note() {
            if placesOfMet.isEmpty { placesOfMet = [Int](repeating: 0, count: RecentValues.places) }
            placesOfMet[number] = place
        }
        return true
    }

    /// Adds the row to the group of this combination, or to the files.
    private func add(_ row: RowReader, _ number: Int, to combination: RowReader.Combination) throws {
        let (key, values, encoded) = combination
        if let place = places[key] { return try add(row, to: place) }
        let bytes = 3 * key.bytes + 200 + 200 * figures.count
        if rest != nil || !pool.memory.hasSpace(for: bytes) && groups.count >= Self.leastGroups,
            depth < RowPartitions.deepest
        {
            let rest = try self.rest ?? RowPartitions(depth: depth, pool: pool)
            self.rest = rest
            if let kept = try row.kept(form) { try rest.add(kept, tie: UInt64(number), key) }
            return
        }
        if groups.count < Self.leastGroups { pool.memory.use(bytes) } else { try pool.memory.take(bytes) }
        places[key] = groups.count
        groups.append(
            Group(
                values: values, encoded: encoded, accumulators: figures.map { Accumulator($0.figure) },
                bytes: bytes))
        try add(row, to: groups.count - 1)
    }

    private func add(_ row: RowReader, to place: Int) throws {
        for figure in figures.indices {
            try groups[place].accumulators[figure].add(figures[figure], row, pool.memory)
        }
    }

    override var hasFiles: Bool { rest != nil }

    /// The stage must have no files: they could contain rows of the same groups.
    override func absorb(_ part: RowSink) {
        guard let part = part as? GroupStage else { return }
        for (key, number) in part.places {
            let group = part.groups[number]
            if let place = places[key] {
                for figure in figures.indices {
                    groups[place].accumulators[figure].absorb(
                        group.accumulators[figure], figures[figure].figure, pool.memory)
                }
            } else {
                pool.memory.use(group.bytes + group.accumulators.reduce(0) { $0 + $1.bytes })
                places[key] = groups.count
                groups.append(group)
            }
        }
    }

    override func finish() throws {
        try finishGroups()
        try done.forEach { row in try pool.reader.show(row) { try next.push(pool.reader) } }
        try next.end()
    }

    /// Passes on the groups as rows, then processes the files.
    private func finishGroups() throws {
        let rest = self.rest
        self.rest = nil
        places = [:]
        recent.forget()
        while let group = groups.popLast() {
            let figures = zip(group.accumulators, figures).map { $0.encoded($1) }
            pool.memory.release(group.bytes + group.accumulators.reduce(0) { $0 + $1.bytes })
            let row = KeptRow(
                facts: nil, document: ColumnRow.encode(group.encoded + figures), hasColumns: true)
            try done.add(row, group.values, 0)
        }
        depth += 1
        defer { depth -= 1 }
        try rest?.forEachFile { record in
            try pool.reader.show(record.row) {
                // The file has a row once for each of its groups; its failures were counted before that.
                pool.reader.countsFailures = false
                let combinations = try pool.reader.groupKeys(accesses)
                pool.reader.countsFailures = true
                let number = Int(record.tie)
                if number < combinations.count { try add(pool.reader, number, to: combinations[number]) }
            }
        } end: {
            try finishGroups()
        }
    }
}

/// The first row of each combination of values, reduced to these columns. Rows beyond the memory limit follow, from files.
final class DistinctStage: RowStage {
    private let accesses: [RowShape.Access]
    private let pool: QueryResources
    /// Combinations that are kept even if other stages have used up the memory.
    private static let leastRows = 64
    private var seen: Set<GroupKey> = []
    private var seenBytes = 0
    /// Some of the seen combinations, or of those in files.
    private var recent = RecentValues()
    private let isMany: Bool
    private var depth = 0
    private var rest: RowPartitions?
    private var arrived: UInt64 = 0

    init(_ accesses: [RowShape.Access], pool: QueryResources, next: RowSink) {
        self.accesses = accesses
        isMany = accesses.contains(where: \.isMany)
        self.pool = pool
        super.init(next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard try row.isThere() else { return true }
        if !isMany {
            guard try row.look(for: accesses, in: &recent), recent.number() == nil else { return true }
            recent.note()
            guard let key = try row.groupKey(accesses), !seen.contains(key) else { return true }
        }
        for (key, _, encoded) in try row.groupKeys(accesses) where !seen.contains(key) {
            guard try show(key, encoded, row) else { return false }
        }
        return true
    }

    private func show(_ key: GroupKey, _ columns: [[UInt8]?], _ row: RowReader) throws -> Bool {
        arrived += 1
        return try row.show(columns: ColumnRow.encode(columns)) {
            try note(key, arrived) { try row.kept(.columns) } ? try next.push(row) : true
        }
    }

    /// Whether the row is the first of its combination. False for a row that is written to a file, to be decided later.
    private func note(_ key: GroupKey, _ tie: UInt64, _ row: () throws -> KeptRow?) throws -> Bool {
        let bytes = key.bytes + 96
        let isFull = !pool.memory.hasSpace(for: bytes) && seen.count >= Self.leastRows
        if rest != nil || isFull, depth < RowPartitions.deepest {
            let rest = try self.rest ?? RowPartitions(depth: depth, pool: pool)
            self.rest = rest
            if let row = try row() { try rest.add(row, tie: tie, key) }
            return false
        }
        if seen.count < Self.leastRows { pool.memory.use(bytes) } else { try pool.memory.take(bytes) }
        seenBytes += bytes
        return seen.insert(key).inserted
    }

    override func finish() throws {
        if rest != nil {
            // Rows are ordered only within each file, so sort them again.
            let done = pool.sorter([])
            try finishFiles(done)
            try done.forEach { row in try pool.reader.show(row) { try next.push(pool.reader) } }
        }
        try next.end()
    }

    private func finishFiles(_ done: RowSorter) throws {
        let rest = self.rest
        self.rest = nil
        forget()
        depth += 1
        defer { depth -= 1 }
        let columns = accesses.columns
        try rest?.forEachFile { record in
            let combination = try pool.reader.show(record.row) { try pool.reader.groupKeys(columns).first }
            guard let combination, !seen.contains(combination.key) else { return }
            if try note(combination.key, record.tie, { record.row }) {
                try done.add(record.row, [], record.tie)
            }
        } end: {
            try finishFiles(done)
        }
    }

    private func forget() {
        seen = []
        pool.memory.release(seenBytes)
        seenBytes = 0
    }
}

extension [RowShape.Access] {
    /// Columns with these values, in rows that begin with them.
    fileprivate var columns: [RowShape.Access] {
        indices.map { self[$0].isKey ? .keyColumn($0) : .column($0, []) }
    }
}

extension RowReader {
    /// The row's group, if no property is a list; nil if the entry was removed or is damaged.
    func groupKey(_ accesses: [RowShape.Access]) throws -> GroupKey? {
        if accesses.count == 1 { return try groupKey(accesses[0]) }
        var keys: [GroupKey] = []
        keys.reserveCapacity(accesses.count)
        for access in accesses {
            guard let key = try groupKey(access) else { return nil }
            keys.append(key)
        }
        return .list(keys)
    }

    private func groupKey(_ access: RowShape.Access) throws -> GroupKey? {
        try ifThere(unreadable: .absent) { () throws(RowFault) in try groupKey(try item(access)) }
    }

    /// Looks up the row's values in `recent`. False if the entry was removed or is damaged.
    func look(for accesses: [RowShape.Access], in recent: inout RecentValues) throws -> Bool {
        recent.begin()
        for access in accesses {
            guard
                let item = try ifThere(
                    unreadable: .absent, { () throws(RowFault) in try item(access) })
            else { return false }
            recent.add(item)
        }
        return true
    }

    typealias Combination = (key: GroupKey, values: [GroupKey], encoded: [[UInt8]?])

    /// The row's combinations of values: one for each distinct element of a list.
    func groupKeys(_ accesses: [RowShape.Access]) throws -> [Combination] {
        var combinations: [(values: [GroupKey], encoded: [[UInt8]?])] = [([], [])]
        for access in accesses {
            let values = try values(access)
            combinations = combinations.flatMap { start in
                values.map { (start.values + [$0.key], start.encoded + [$0.encoded]) }
            }
        }
        var seen: Set<GroupKey> = []
        return combinations.map { values, encoded in
            (values.count == 1 ? values[0] : .list(values), values, encoded)
        }.filter { seen.insert($0.key).inserted }
    }

    private func values(_ access: RowShape.Access) throws -> [(key: GroupKey, encoded: [UInt8]?)] {
        try ifThere(unreadable: [(.absent, nil)]) { () throws(RowFault) in
            guard case .elements(let elements) = access else {
                return [(try groupKey(try item(access)), try encoded(access))]
            }
            return try encodedItems(elements).map { (item, bytes) throws(RowFault) in
                (try groupKey(item), bytes)
            }
        } ?? []
    }
}
