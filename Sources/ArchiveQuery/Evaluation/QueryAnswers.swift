import Synchronization

/// What a query's questions came upon, and what a person should know of it. Questions are noted by one thread; warnings may
/// come from any.
final class QueryAnswers: Sendable {
    /// Kinds of values that one question came upon.
    private struct Question: @unchecked Sendable {
        var property: QueryProperty
        var wanted: KindSet
        /// The condition or figure, as it is written.
        var text: String
        var kinds: UnsafeMutablePointer<KindSet>
    }

    private let questions = Mutex<[Question]>([])
    private let lines = Mutex<[String]>([])

    deinit { questions.withLock { $0.forEach { $0.kinds.deallocate() } } }

    func warn(_ line: String) { lines.withLock { $0.append(line) } }
    var warnings: [String] { lines.withLock { $0 } }

    /// Where a question notes what kinds it comes upon; valid as long as this object.
    func sight(_ property: QueryProperty, wanting kinds: KindSet, _ text: String) -> Sight {
        let noted = UnsafeMutablePointer<KindSet>.allocate(capacity: 1)
        noted.initialize(to: [])
        questions.withLock {
            $0.append(Question(property: property, wanted: kinds, text: text, kinds: noted))
        }
        return Sight(kinds: noted)
    }

    /// The questions that no value was of a kind for, a line each, in the order in which they were asked.
    var misfits: [String] {
        var seen: Set<String> = []
        return questions.withLock { $0.compactMap(Self.misfit) }.filter { seen.insert($0).inserted }
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

/// Where one question notes the kinds of what it comes upon. For one thread at a time.
struct Sight {
    fileprivate let kinds: UnsafeMutablePointer<KindSet>

    @inline(__always)
    func note(_ kind: KindSet) { kinds.pointee = KindSet(rawValue: kinds.pointee.rawValue | kind.rawValue) }
}

/// What to write where a question's kind fits no value.
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
