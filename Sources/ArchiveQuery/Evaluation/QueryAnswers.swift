/// Collects the kinds of values that one query found, and the warnings about them. Not thread-safe.
final class QueryAnswers {
    /// A part of the query that depends on the kinds of values.
    private struct Question {
        var property: QueryProperty
        var wanted: KindSet
        /// The condition, figure, sort or calculation as text, for warnings.
        var text: () -> String
        var role: Role
        var sight: Sight

        /// The kinds of all values, if they don't depend on the entries.
        var fixedKinds: KindSet? {
            if case .metadata(let metadata) = property, wanted != .comparable { metadata.kind } else { nil }
        }
    }

    enum Role {
        /// They are of another kind than the compared value.
        case compared
        /// They are excluded from an aggregate.
        case excluded
        /// All values of a sort, which orders kinds.
        case sorted
        /// The results of an aggregate for all kinds.
        case resulting
        /// A calculation or conversion failed for them.
        case failed
        /// Rows for which a condition is unknown, counted as one kind.
        case undecided
        case silent
    }

    /// The time limit of all regular expressions.
    let patience: SearchPatience
    /// Whether a part of a condition may have been tested for some entries only; then values of other kinds are only counted.
    var isPartial = false
    private var questions: [Question] = []
    private var lines: [String] = []

    init(patience: SearchPatience = SearchPatience()) { self.patience = patience }

    deinit { questions.forEach { $0.sight.counts.deallocate() } }

    func warn(_ line: String) { lines.append(line) }

    /// Those that suggest a mistake in the query, and then the remarks.
    var warnings: [String] { lines + misfits + (patience.warning.map { [$0] } ?? []) + remarks }

    var misfits: [String] { unique(misfit) }

    /// Warnings about values of other kinds in conditions, aggregates and sorts.
    var remarks: [String] {
        unique { $0.role == .undecided ? Self.remark($0) : nil }
            + unique { $0.role == .undecided || kindsOfMisfit($0) != nil ? nil : Self.remark($0) }
    }

    /// A counter of kinds for a question. Valid as long as this object.
    func sight(
        _ property: QueryProperty, wanting kinds: KindSet, _ text: @autoclosure @escaping () -> String,
        _ role: Role = .compared
    ) -> Sight {
        note(property, kinds, text, role)
    }

    func undecided(_ text: @autoclosure @escaping () -> String) -> Sight { note(.none, [], text, .undecided) }

    // Passing on an autoclosure as another one would allocate.
    private func note(
        _ property: QueryProperty, _ kinds: KindSet, _ text: @escaping () -> String, _ role: Role
    ) -> Sight {
        let counts = UnsafeMutablePointer<Int>.allocate(capacity: Sight.slots + 1)
        counts.initialize(repeating: 0, count: Sight.slots + 1)
        let sight = Sight(counts: counts)
        questions.append(
            Question(property: property, wanted: kinds, text: text, role: role, sight: sight))
        return sight
    }

    var undecidedRows: Int { questions.reduce(0) { $0 + ($1.role == .undecided ? $1.sight[.other] : 0) } }

    /// Adds the observations of a part of the entries for the same questions, which are the last of these.
    func absorb(_ part: QueryAnswers) {
        for (mine, other) in zip(questions.suffix(part.questions.count), part.questions) {
            mine.sight.absorb(other.sight)
        }
    }

    /// Adds the kinds that `part` found for the same questions, which are the last of these. Returns whether one of these still
    /// found only values of other kinds.
    func absorbKinds(of part: QueryAnswers) -> Bool {
        var isMisfit = false
        for (mine, other) in zip(questions.suffix(part.questions.count), part.questions) {
            mine.sight.note(other.sight.kinds)
            isMisfit = isMisfit || mine.fixedKinds == nil && kindsOfMisfit(mine) != nil
        }
        return isMisfit
    }

    private func unique(_ line: (Question) -> String?) -> [String] {
        var seen: Set<String> = []
        return questions.compactMap(line).filter { seen.insert($0).inserted }
    }

    /// The kinds that a question found, if it found only values of other kinds.
    private func kindsOfMisfit(_ question: Question) -> KindSet? {
        let found = question.fixedKinds ?? question.sight.kinds
        guard !question.wanted.isEmpty, !found.isEmpty, !isPartial || question.fixedKinds != nil else {
            return nil
        }
        return found.isDisjoint(with: question.wanted) ? found : nil
    }

    private func misfit(_ question: Question) -> String? {
        guard let found = kindsOfMisfit(question) else { return nil }
        if question.wanted == .comparable { return "\(question.text()): the sides are never of one kind" }
        let advice = KindAdvice.words(question.property, question.wanted, found).map { "; " + $0 } ?? ""
        return
            "\(question.text()): \(question.property) is \(found.words), not \(question.wanted.words)\(advice)"
    }

    private static func remark(_ question: Question) -> String? {
        let sight = question.sight
        guard !sight.kinds.isEmpty else { return nil }
        let amounts = KindSet.amounts({ sight[$0] }, wanted: question.wanted)
        guard !amounts.isEmpty else { return nil }
        let kinds = KindSet.each.count { sight[$0] > 0 }
        switch question.role {
        case .compared: return "\(question.text()): met \(amounts)"
        case .excluded: return "\(question.text()): left out \(amounts)"
        case .sorted: return kinds > 1 ? "\(question.text()): \(amounts) are sorted by kind first" : nil
        case .resulting: return kinds > 1 ? "\(question.text()): the results are \(amounts)" : nil
        case .failed: return "\(question.text()): no result for \(amounts)"
        case .undecided:
            let count = sight[.other]
            return
                "\(question.text()): could not be evaluated for \(count) \(count == 1 ? "entry" : "entries"), left out"
        case .silent: return nil
        }
    }
}

extension QueryProperty {
    /// The property of a question about whole rows.
    fileprivate static let none = QueryProperty.named("")
}

/// Counts the kinds of values that a question finds. Not thread-safe.
struct Sight {
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

    fileprivate func absorb(_ other: Sight) {
        note(other.kinds)
        for slot in 0..<Self.slots { counts[slot] += other.counts[slot] }
    }
}

private enum KindAdvice {
    static func words(_ property: QueryProperty, _ wanted: KindSet, _ found: KindSet) -> String? {
        switch (wanted, found) {
        case (_, .list) where wanted.contains(.text) && !wanted.contains(.list):
            "use has for lists, or \(property)[]"
        case (_, .list): "its elements are \(property)[]"
        case (.number, .text) where !property.isMetadata: "number(\(property)) reads texts as numbers"
        case (.number, .text): "write texts in \"…\""
        case (.text, .number): "write numbers without quotes"
        case (.date, .number): "seconds since 1970 are the date 1970-01-01Z + \(property)"
        default: nil
        }
    }
}
