import StorageEngine

/// Evaluates conditions and properties of one entry after the other. Not thread-safe.
package final class EntryProbe {
    package enum Answer<Found> {
        case found(Found)
        case removed
        /// The value is damaged, doesn't match its encoding, or is only in the memory of another process.
        case unreadable
    }

    private let reader: RowReader
    private let condition: (test: Condition, undecided: KindCounts)?
    private let sorted: [KindCounts]
    private let accesses: [RowShape.Access]
    /// Owns the counters that the condition updates.
    private let diagnostics: QueryDiagnostics
    private let names: PropertyNames

    package convenience init(_ cursor: any QueryCursor, properties: [QueryProperty], now: Timestamp) {
        let (names, diagnostics) = (PropertyNames(), QueryDiagnostics())
        self.init(cursor, names, diagnostics, nil, properties, now)
    }

    /// - Throws: for an invalid pattern.
    package convenience init(
        _ cursor: any QueryCursor, condition: QueryPredicate, properties: [QueryProperty] = [],
        now: Timestamp
    ) throws(QueryError) {
        let (names, diagnostics) = (PropertyNames(), QueryDiagnostics())
        var shape = RowShape(names: names)
        shape.diagnostics = diagnostics
        shape.storesNumbersAsText = cursor.storesNumbersAsText
        let text = condition.description
        let compiled = try QueryClock.$running.withValue(QueryClock(now: now, zone: .local)) { [shape] in
            Result { () throws(QueryError) in try condition.condition(shape, diagnostics) }
        }.get()
        self.init(
            cursor, names, diagnostics, (compiled, diagnostics.undecided(text)),
            properties, now)
    }

    private init(
        _ cursor: any QueryCursor, _ names: PropertyNames, _ diagnostics: QueryDiagnostics,
        _ condition: (Condition, KindCounts)?,
        _ properties: [QueryProperty], _ now: Timestamp
    ) {
        var shape = RowShape(names: names)
        shape.diagnostics = diagnostics
        accesses = properties.map { shape.access(to: $0) }
        self.condition = condition
        sorted = properties.map { diagnostics.counter($0, wanting: [], "\($0)", .sorted) }
        self.diagnostics = diagnostics
        self.names = names
        // Create the reader last: it allocates space for all names.
        reader = RowReader(cursor, names: names, now: now)
    }

    package func next() { reader.next() }

    /// Whether the condition holds; true without one. Counts an entry for which it is unknown.
    package func isMet() -> Answer<Bool> {
        guard let condition else { return .found(true) }
        return answer { () throws(RowFault) in
            let truth = try condition.test.test(reader)
            if truth == .unknown { condition.undecided.count(.other) }
            return truth == .yes
        }
    }

    package func encoded(_ number: Int) -> Answer<[UInt8]?> {
        answer { () throws(RowFault) in try reader.encoded(accesses[number]) }
    }

    /// The entry's value for a sort; for all elements of a list, the first in the order.
    package func sortValue(_ number: Int, isDescending: Bool) -> Answer<SortValue> {
        answer { () throws(RowFault) in
            var best = SortValue.absent
            try reader.forEachItem(accesses[number]) { (item) throws(RowFault) in
                let value = try reader.groupKey(item)
                if SortValue.compare(value, best, isDescending: isDescending) < 0 { best = value }
                return true
            }
            sorted[number].count(best.sortedKind)
            return best
        }
    }

    /// Equal for entries with equal values of a property.
    package func groupKey(_ number: Int) -> Answer<GroupKey> {
        answer { () throws(RowFault) in
            let access = accesses[number]
            guard access.isMany else { return try reader.groupKey(try reader.item(access)) }
            var keys: [GroupKey] = []
            try reader.forEachItem(access) { (item) throws(RowFault) in
                keys.append(try reader.groupKey(item))
                return true
            }
            return .list(keys)
        }
    }

    private func answer<Found>(_ ask: () throws(RowFault) -> Found) -> Answer<Found> {
        do throws(RowFault) { return .found(try ask()) } catch .removed { return .removed } catch {
            return .unreadable
        }
    }

    /// Remarks on values of other kinds in the condition, a sort or a calculation, one line each.
    package var kindRemarks: [String] { diagnostics.remarks }

    package var undecided: Int { diagnostics.undecidedRows }

    /// Warnings about the tested condition: comparisons that never fit, and properties without any value.
    package var warnings: [String] {
        guard reader.valuesRead > 0 else { return diagnostics.warnings }
        return names.properties(seenByNoneOf: [reader]).map {
            "no value that was read has the property \($0)"
        } + diagnostics.warnings
    }
}

extension QueryPredicate {
    /// - Throws: for an invalid pattern.
    package func check() throws(QueryError) {
        _ = try condition(RowShape(names: PropertyNames()), QueryDiagnostics())
    }
}
