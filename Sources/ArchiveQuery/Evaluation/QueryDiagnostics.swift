/// Collects the kinds of values that one query found, and the warnings about them. Not thread-safe.
final class QueryDiagnostics {
    /// A part of the query that depends on the kinds of values.
    private struct Subject {
        var property: QueryProperty
        var wanted: KindSet
        /// The condition, figure, sort or calculation as text, for warnings.
        var text: () -> String
        var role: Role
        var counter: KindCounts

        /// The kinds of all values, if they don't depend on the entries.
        var fixedKinds: KindSet? {
            if case .metadata(let metadata) = property, wanted != .comparable { metadata.kind } else { nil }
        }
    }

    enum Role {
        /// Values of another kind than the compared value.
        case compared
        /// Values that an aggregate ignores.
        case excluded
        /// All values of a sort, which orders kinds.
        case sorted
        /// The results of an aggregate for all kinds.
        case resulting
        /// Operands of failed calculations and conversions.
        case failed
        /// Rows for which a condition is unknown, counted as one kind.
        case undecided
        case silent
    }

    /// The time limit of all regular expressions.
    let timeLimit: SearchTimeLimit
    /// Whether a part of a condition may have been tested for some entries only; then values of other kinds are only counted.
    var isPartial = false
    private var subjects: [Subject] = []
    private var lines: [String] = []

    init(timeLimit: SearchTimeLimit = SearchTimeLimit()) { self.timeLimit = timeLimit }

    deinit { subjects.forEach { $0.counter.counts.deallocate() } }

    func warn(_ line: String) { lines.append(line) }

    /// Warnings that suggest a mistake in the query, and then the remarks.
    var warnings: [String] { lines + misfits + (timeLimit.warning.map { [$0] } ?? []) + remarks }

    var misfits: [String] { unique(misfit) }

    /// Warnings about values of other kinds in conditions, aggregates and sorts.
    var remarks: [String] {
        unique { $0.role == .undecided ? Self.remark($0) : nil }
            + unique { $0.role == .undecided || kindsOfMisfit($0) != nil ? nil : Self.remark($0) }
    }

    /// A counter of kinds for a subject. Valid as long as this object.
    func counter(
        _ property: QueryProperty, wanting kinds: KindSet, _ text: @autoclosure @escaping () -> String,
        _ role: Role = .compared
    ) -> KindCounts {
        note(property, kinds, text, role)
    }

    func undecided(_ text: @autoclosure @escaping () -> String) -> KindCounts {
        note(.none, [], text, .undecided)
    }

    // Passing on an autoclosure as another one would allocate.
    private func note(
        _ property: QueryProperty, _ kinds: KindSet, _ text: @escaping () -> String, _ role: Role
    ) -> KindCounts {
        let counts = UnsafeMutablePointer<Int>.allocate(capacity: KindCounts.slots + 1)
        counts.initialize(repeating: 0, count: KindCounts.slots + 1)
        let counter = KindCounts(counts: counts)
        subjects.append(
            Subject(property: property, wanted: kinds, text: text, role: role, counter: counter))
        return counter
    }

    var undecidedRows: Int { subjects.reduce(0) { $0 + ($1.role == .undecided ? $1.counter[.other] : 0) } }

    /// Adds the counts of `part`, from other entries. Its subjects are the last ones of this object.
    func absorb(_ part: QueryDiagnostics) {
        for (mine, other) in zip(subjects.suffix(part.subjects.count), part.subjects) {
            mine.counter.absorb(other.counter)
        }
    }

    /// Adds the kinds that `part` found; its subjects are the last ones of this object. Returns whether one of them still
    /// found only values of other kinds.
    func absorbKinds(of part: QueryDiagnostics) -> Bool {
        var isMisfit = false
        for (mine, other) in zip(subjects.suffix(part.subjects.count), part.subjects) {
            mine.counter.note(other.counter.kinds)
            isMisfit = isMisfit || mine.fixedKinds == nil && kindsOfMisfit(mine) != nil
        }
        return isMisfit
    }

    private func unique(_ line: (Subject) -> String?) -> [String] {
        var seen: Set<String> = []
        return subjects.compactMap(line).filter { seen.insert($0).inserted }
    }

    /// The kinds of the subject's values, if all are others than its wanted kinds.
    private func kindsOfMisfit(_ subject: Subject) -> KindSet? {
        let found = subject.fixedKinds ?? subject.counter.kinds
        guard !subject.wanted.isEmpty, !found.isEmpty, !isPartial || subject.fixedKinds != nil else {
            return nil
        }
        return found.isDisjoint(with: subject.wanted) ? found : nil
    }

    private func misfit(_ subject: Subject) -> String? {
        guard let found = kindsOfMisfit(subject) else { return nil }
        if subject.wanted == .comparable { return "\(subject.text()): the sides always differ in kind" }
        let advice = KindAdvice.words(subject.property, subject.wanted, found).map { "; " + $0 } ?? ""
        return
            "\(subject.text()): \(subject.property) is \(found.words), not \(subject.wanted.words)\(advice)"
    }

    private static func remark(_ subject: Subject) -> String? {
        let counter = subject.counter
        guard !counter.kinds.isEmpty else { return nil }
        let amounts = KindSet.amounts({ counter[$0] }, wanted: subject.wanted)
        guard !amounts.isEmpty else { return nil }
        let kinds = KindSet.each.count { counter[$0] > 0 }
        switch subject.role {
        case .compared: return "\(subject.text()): found \(amounts)"
        case .excluded: return "\(subject.text()): left out \(amounts)"
        case .sorted: return kinds > 1 ? "\(subject.text()): \(amounts) are sorted by kind first" : nil
        case .resulting: return kinds > 1 ? "\(subject.text()): the results are \(amounts)" : nil
        case .failed: return "\(subject.text()): no result for \(amounts)"
        case .undecided:
            let count = counter[.other]
            return
                "\(subject.text()): could not be evaluated for \(count) \(count == 1 ? "entry" : "entries"), left out"
        case .silent: return nil
        }
    }
}

extension QueryProperty {
    /// The property of a subject about whole rows.
    fileprivate static let none = QueryProperty.named("")
}

/// Counts the kinds of a subject's values. Not thread-safe.
struct KindCounts {
    /// One for each kind, and then the kinds that were found.
    fileprivate let counts: UnsafeMutablePointer<Int>
    fileprivate static let slots = 16

    @inline(__always)
    func note(_ kind: KindSet) { counts[Self.slots] |= Int(kind.rawValue) }

    /// Counts a value that isn't absent.
    @inline(__always)
    func count(_ kind: KindSet, times: Int = 1) {
        guard !kind.isEmpty else { return }
        note(kind)
        counts[kind.rawValue.trailingZeroBitCount] += times
    }

    func countEach(_ kinds: KindSet) {
        guard !kinds.isEmpty else { return }
        for kind in KindSet.each where kinds.contains(kind) { count(kind) }
    }

    fileprivate var kinds: KindSet { KindSet(rawValue: UInt16(truncatingIfNeeded: counts[Self.slots])) }
    fileprivate subscript(kind: KindSet) -> Int { counts[kind.rawValue.trailingZeroBitCount] }

    fileprivate func absorb(_ other: KindCounts) {
        note(other.kinds)
        for slot in 0..<Self.slots { counts[slot] += other.counts[slot] }
    }
}

private enum KindAdvice {
    static func words(_ property: QueryProperty, _ wanted: KindSet, _ found: KindSet) -> String? {
        switch (wanted, found) {
        case (_, .list) where wanted.contains(.text) && !wanted.contains(.list):
            "use \"has\" for lists, or \(property)[]"
        case (_, .list): "its elements are \(property)[]"
        case (.number, .text) where !property.isMetadata: "number(\(property)) reads texts as numbers"
        case (.number, .text): "write texts in \"…\""
        case (.text, .number): "write numbers without quotes"
        case (.date, .number): "seconds since 1970 are the date 1970-01-01Z + \(property)"
        default: nil
        }
    }
}
