import ArchiveQuery

package struct EntryCondition: Sendable, Hashable {
    package let text: String
    package let predicate: QueryPredicate

    package var readsValues: Bool { PipelineStage.find(predicate).properties.contains { !$0.isMetadata } }

    package struct Mistake: Error, Sendable, Hashable {
        /// The error in one line, with its place.
        package let words: String
        /// The place in the text's UTF-8; nil if unknown.
        package let range: Range<Int>?
        /// The words expected at the end of an incomplete text.
        package fileprivate(set) var expectedNext: String?
    }

    package init(_ text: String) throws(Mistake) {
        self.text = text
        do throws(QuerySyntaxError) {
            predicate = try QueryPredicate(text)
        } catch {
            var mistake = Mistake(words: error.description(in: text), range: error.range)
            if error.position >= text.utf8.count {
                let names = error.expected.prefix(12).map(\.name).joined(separator: ", ")
                mistake.expectedNext = "Expected next: \(names)"
            }
            throw mistake
        }
        do throws(QueryError) { try predicate.check() } catch {
            throw Mistake(words: "\(error)", range: nil)
        }
    }
}
