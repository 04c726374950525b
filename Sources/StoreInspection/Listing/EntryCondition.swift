import ArchiveQuery

/// A condition for entries of a list, as a person wrote it. A value; safe to share between threads.
package struct EntryCondition: Sendable, Hashable {
    package let text: String
    package let predicate: QueryPredicate

    /// Why a text is no condition. A value; safe to share between threads.
    package struct Mistake: Error, Sendable, Hashable {
        /// One line, which says where.
        package let words: String
        /// Where in the text's UTF-8; nil: it can't be told.
        package let range: Range<Int>?
        /// What could stand at the end of a text that isn't whole yet.
        package var toCome: String?
    }

    package init(_ text: String) throws(Mistake) {
        self.text = text
        do throws(QuerySyntaxError) {
            predicate = try QueryPredicate(text)
        } catch {
            var mistake = Mistake(words: error.description, range: error.range)
            if error.position >= text.utf8.count {
                let names = error.expected.prefix(12).map(\.name).joined(separator: ", ")
                mistake.toCome = "Expected next: \(names)"
            }
            throw mistake
        }
        do throws(QueryError) { try predicate.check() } catch {
            throw Mistake(words: "\(error)", range: nil)
        }
    }
}
