/// Collects what the questions of one query found, and what a person should know of it. Not thread-safe.
final class QueryAnswers {
    /// The kinds of values that one question found.
    private struct Question {
        var property: QueryProperty
        var wanted: KindSet
        /// The condition or figure as text.
        var text: String
        var kinds: UnsafeMutablePointer<KindSet>
    }

    /// The time limit that all regular expressions of the query share.
    let patience: SearchPatience
    private var questions: [Question] = []
    private var lines: [String] = []

    init(patience: SearchPatience = SearchPatience()) { self.patience = patience }

    deinit { questions.forEach { $0.kinds.deallocate() } }

    func warn(_ line: String) { lines.append(line) }

    /// All warnings, one line each.
    var warnings: [String] { lines + misfits + (patience.warning.map { [$0] } ?? []) }

    /// A place where a question notes the kinds of values that it finds. Valid as long as this object.
    func sight(_ property: QueryProperty, wanting kinds: KindSet, _ text: String) -> Sight {
        let noted = UnsafeMutablePointer<KindSet>.allocate(capacity: 1)
        noted.initialize(to: [])
        questions.append(Question(property: property, wanted: kinds, text: text, kinds: noted))
        return Sight(kinds: noted)
    }

    /// Takes what the same questions found in a part of the entries. Stages ask theirs in the order from the last to the first,
    /// and a part has only first ones.
    func absorb(_ part: QueryAnswers) {
        for (mine, other) in zip(questions.suffix(part.questions.count), part.questions) {
            Sight(kinds: mine.kinds).note(other.kinds.pointee)
        }
    }

    /// The questions that found only values of other kinds, in the order of the query.
    private var misfits: [String] {
        var seen: Set<String> = []
        return questions.compactMap(Self.misfit).filter { seen.insert($0).inserted }
    }

    private static func misfit(_ question: Question) -> String? {
        let found =
            if case .metadata(let metadata) = question.property { metadata.kind } else {
                question.kinds.pointee
            }
        guard !question.wanted.isEmpty, !found.isEmpty, found.isDisjoint(with: question.wanted) else {
            return nil
        }
        if question.wanted == .comparable { return "\(question.text): the two are never of one kind" }
        let advice = KindAdvice.words(question.property, question.wanted, found).map { "; " + $0 } ?? ""
        return
            "\(question.text): \(question.property) is \(found.words), not \(question.wanted.words)\(advice)"
    }
}

/// A place where one question notes the kinds of values that it finds. Not thread-safe.
struct Sight {
    fileprivate let kinds: UnsafeMutablePointer<KindSet>

    @inline(__always)
    func note(_ kind: KindSet) { kinds.pointee = KindSet(rawValue: kinds.pointee.rawValue | kind.rawValue) }
}

/// Advice for a question that found only values of other kinds.
private enum KindAdvice {
    static func words(_ property: QueryProperty, _ wanted: KindSet, _ found: KindSet) -> String? {
        switch (wanted, found) {
        case (_, .list) where wanted.contains(.text) && !wanted.contains(.list):
            "lists are asked with has, or \(property)[]"
        case (_, .list): "its elements are \(property)[]"
        case (.number, .text): "texts stand in \"…\""
        case (.text, .number): "numbers stand without quotes"
        case (.date, .number): "seconds since 1970 are the date 1970-01-01 + \(property)"
        default: nil
        }
    }
}
