import CBOR

extension RowShape.Access {
    var cost: Condition.Cost {
        switch self {
        case .metadata(let metadata): metadata.isInFrame ? .frame : .index
        case .property: .value
        case .elements(let elements): if case .property = elements.start { .value } else { .index }
        case .computed(let computation): computation.cost
        case .column, .keyColumn, .nothing: .index
        }
    }
}

extension QueryPredicate {
    func condition(_ shape: RowShape, _ diagnostics: QueryDiagnostics) throws(QueryError) -> Condition {
        func parts(_ predicates: [QueryPredicate]) throws(QueryError) -> [Condition] {
            diagnostics.isPartial = diagnostics.isPartial || predicates.count > 1
            var parts: [Condition] = []
            for predicate in predicates { parts.append(try predicate.condition(shape, diagnostics)) }
            return parts
        }
        func asked(
            _ property: QueryProperty, _ kinds: KindSet, numbers: Bool? = nil
        ) -> (RowShape.Access, KindCounts) {
            // The text may be a date.
            let readsDates = kinds.contains(.date) && shape.isText(property)
            return (
                numbers ?? kinds.contains(.number)
                    ? shape.numericAccess(to: property) : shape.access(to: property),
                diagnostics.counter(property, wanting: readsDates ? kinds.union(.text) : kinds, description)
            )
        }
        /// A text that is compared with dates becomes a date, so that the report names its moment.
        func bound(_ literal: QueryLiteral, of property: QueryProperty) -> QueryLiteral {
            guard case .text(let text) = literal, shape.isDate(property), TextValue(text).date != nil else {
                return literal
            }
            return .localDate(QueryDate(written: text))
        }
        switch self {
        case .and(let predicates): return Pair.all(try parts(predicates))
        case .or(let predicates): return Pair.any(try parts(predicates))
        case .not(let predicate): return Negation(try predicate.condition(shape, diagnostics))
        case .compare(let property, let relation, let literal):
            let literal = bound(literal, of: property)
            let (access, counter) = asked(property, literal.kind)
            return Condition.comparison(access, relation, literal, counter)
        case .relate(let property, let relation, let other):
            let areNumbers = !shape.isText(property) && !shape.isText(other)
            let (access, counter) = asked(property, .comparable, numbers: areNumbers)
            let pairs = diagnostics.counter(property, wanting: [], description)
            let ignored = diagnostics.counter(property, wanting: [], description, .silent)
            return Relation(
                access, relation,
                areNumbers ? shape.numericAccess(to: other) : shape.access(to: other), counter,
                counting: pairs, ignored: ignored)
        case .between(let property, let low, let high):
            let (low, high) = (bound(low, of: property), bound(high, of: property))
            let (access, counter) = asked(
                property, low.kind.union(high.kind), numbers: low.kind == high.kind ? nil : false)
            // The second comparison doesn't count a value of another kind again.
            let ignored = diagnostics.counter(property, wanting: [], description, .silent)
            guard access.isMany || low.kind != high.kind else {
                return Pair.all([
                    Condition.comparison(access, .greaterOrEqual, low, counter),
                    Condition.comparison(access, .lessOrEqual, high, ignored),
                ])
            }
            // One element must be within both ends; two elements, each within one, don't count.
            let (first, last) = (LiteralValue(low), LiteralValue(high))
            let readsDates = low.kind.union(high.kind).contains(.date)
            let readsNumbers = shape.readsNumbers(in: property)
            return PropertyCondition(access, counter) { item in
                let number = readsNumbers ? item.orNumber : item
                let isDate = readsDates && item.isText && item.date != nil
                if isDate { counter.note(.date) }
                let bounds = (low.kind == .number ? number : item, high.kind == .number ? number : item)
                let truth = Truth.joined(first.test(.greaterOrEqual, bounds.0, ignored), isConjunction: true)
                {
                    last.test(.lessOrEqual, bounds.1, ignored)
                }
                if truth == .unknown { counter.count(isDate ? .date : item.kind) }
                return truth
            }
        case .count(let property, let relation, let number):
            let (access, counter) = asked(property, .collections)
            return PropertyCondition(access, counter) { (item) throws(CBORError) in
                // An absent count differs from every number.
                if case .absent = item { return Truth(relation == .notEqual) }
                guard let count = try item.count() else { return counter.unknown(item) }
                return Truth(relation.holds(count, number))
            }
        case .isIn(let property, let literals):
            let literals = literals.map { bound($0, of: property) }
            let values = LiteralSet(literals, readsNumbers: shape.readsNumbers(in: property))
            let (access, counter) = asked(
                property, literals.contains(.null) ? [] : values.kinds, numbers: false)
            return PropertyCondition(access, counter, notesKinds: false) { values.test($0, counter) }
        case .contains, .startsWith, .endsWith, .like, .matches: return try searching(shape, diagnostics)
        case .hasAny(let property, let literals), .hasAll(let property, let literals):
            let needsAll = if case .hasAll = self { true } else { false }
            let values = LiteralSet(literals, readsNumbers: shape.readsNumbers(in: property))
            let (access, counter) = asked(property, .list)
            return PropertyCondition(access, counter) { (item) throws(CBORError) in
                guard case .array = item else { return item.truthWithoutContent(counter) }
                var found: Set<Int> = []
                try values.forEachElement(of: item) { place in
                    found.insert(place)
                    return needsAll && found.count < values.count
                }
                return Truth(needsAll ? found.count == values.count : !found.isEmpty)
            }
        case .presence(let property, let presence):
            let (access, counter) = asked(property, presence.kinds)
            return PropertyCondition(access, counter) { presence.test($0, counter) }
        }
    }

    private func searching(_ shape: RowShape, _ diagnostics: QueryDiagnostics) throws(QueryError) -> Condition
    {
        /// `inKey`: the search in a key's bytes; nil if keys are searched as texts. `inText` returns nil if it gave up.
        func search(
            _ property: QueryProperty, inKey: ((UnsafeRawBufferPointer) -> Bool)? = nil,
            _ inText: @escaping (UnsafeRawBufferPointer) -> Bool?
        ) -> Condition {
            let counter = diagnostics.counter(property, wanting: .text, description)
            return PropertyCondition(shape.access(to: property), counter, isSearch: true) { item in
                if case .key(let key) = item, let inKey { return Truth(key.withBytes(inKey)) }
                guard item.isText else { return item.truthWithoutContent(counter) }
                return item.withText(inText).map { Truth($0) } ?? .unknown
            }
        }
        switch self {
        case .contains(let property, let text, let caseSensitive):
            let part = TextSearch(text, caseSensitive: caseSensitive)
            let bytes = Array(text.utf8)
            let inKey = { (key: UnsafeRawBufferPointer) in ByteSearch.place(of: bytes, in: key) != nil }
            return search(property, inKey: caseSensitive ? inKey : nil) { part.isFound(inUTF8: $0) }
        case .startsWith(let property, let text), .endsWith(let property, let text):
            let isEnd = if case .endsWith = self { true } else { false }
            let edge = TextEdge(text, atEnd: isEnd)
            let bytes = text.utf8
            let inKey = { (key: UnsafeRawBufferPointer) in
                isEnd ? key.reversed().starts(with: bytes.reversed()) : key.starts(with: bytes)
            }
            return search(property, inKey: inKey) { edge.isFound(inUTF8: $0) }
        case .like(let property, let pattern, let caseSensitive):
            let like = LikePattern(pattern, caseSensitive: caseSensitive)
            return search(property) { like.matches(utf8: $0) }
        case .matches(let property, let pattern):
            let compiled = TextPattern(pattern)
            guard compiled.isValid else { throw .invalidPattern(pattern) }
            let filter = PatternFilter(MarkOrder.composed(pattern))
            let timeLimit = diagnostics.timeLimit
            return search(property) {
                filter.verdict($0) ?? compiled.matches(UTF8Text.string($0), within: timeLimit)
            }
        default: preconditionFailure("no search")
        }
    }
}

extension KindCounts {
    /// The result of a test that doesn't apply to the item's kind.
    fileprivate func unknown(_ item: StoredItem) -> Truth {
        count(item.kind)
        return .unknown
    }
}

extension StoredItem {
    /// The result of a content test for an item without content: an absent one contains nothing.
    fileprivate func truthWithoutContent(_ counter: KindCounts) -> Truth {
        if case .absent = self { .no } else { counter.unknown(self) }
    }

    /// Nil for kinds without content.
    fileprivate var isEmpty: Bool? {
        switch self {
        case .text, .string, .key: withText { $0.isEmpty }
        case .bytes(_, let count): count == 0
        case .array(_, let count?), .map(_, let count?): count == 0
        case .array(var reader, nil), .map(var reader, nil): reader.readBreak()
        case .absent, .failed, .boolean, .number, .date, .other: nil
        }
    }
}

extension QueryPresence {
    /// The kinds that it applies to; empty: all.
    fileprivate var kinds: KindSet {
        switch self {
        case .null, .notNull, .nullOrEmpty: []
        case .empty, .notEmpty: .collections
        }
    }

    fileprivate func test(_ item: StoredItem, _ counter: KindCounts) -> Truth {
        let isAbsent =
            switch item {
            case .absent, .failed: true
            default: false
            }
        switch self {
        case .null: return Truth(isAbsent)
        case .notNull: return Truth(!isAbsent)
        case .nullOrEmpty where isAbsent: return .yes
        case .empty, .nullOrEmpty: return item.isEmpty.map { Truth($0) } ?? item.truthWithoutContent(counter)
        case .notEmpty: return item.isEmpty.map { Truth(!$0) } ?? item.truthWithoutContent(counter)
        }
    }
}
