import ArchiveQuery
import Foundation
import TerminalKit

struct ShellCompletion: Sendable {
    /// Range of grapheme clusters in the field that a choice replaces.
    let range: Range<Int>
    /// Escaped for the shell.
    let choices: [String]

    /// `earlier`: previous lines of an unfinished input.
    init(_ field: TextField, after earlier: String, _ shell: Shell) {
        let before = earlier + field.textBeforeCursor
        func place(_ byte: Int) -> Int { field.place(ofByte: byte - earlier.utf8.count) }
        if shell.isQuery(before), before.contains(where: \.isWhitespace) {
            let found = QueryPipeline.completions(
                in: before, at: before.utf8.count, properties: shell.archive?.sample.names ?? []
            ) { shell.archive?.sample.values(of: $0) }.filter { $0.kind != .placeholder }
            let start = found.first.map { place($0.range.lowerBound) } ?? field.cursor
            range = min(start, field.cursor)..<field.cursor
            choices = found.map(\.text)
            return
        }
        let (words, last) = ShellWord.words(in: before)
        range = min(place(last), field.cursor)..<field.cursor
        let word = words.last ?? ""
        guard let command = words.first, words.count > 1 else {
            choices = (Shell.words + Shell.stages + Shell.commands).filter { $0.hasPrefix(word) }.sorted()
            return
        }
        let isArchive = words.count == 2 || Self.takesTwoArchives.contains(command)
        let store = StoreCompletion(["vellum"] + words.dropLast())
        let found = isArchive ? store?.archives(beginning: word) : store?.keys(beginning: word)
        choices = (found ?? []).map(ShellWord.quoted)
    }

    private static let takesTwoArchives: Set = ["copy", "diff", "rename"]

    /// The longest common prefix of all choices.
    var common: String {
        guard var common = choices.first else { return "" }
        for choice in choices { common = common.commonPrefix(with: choice) }
        return common
    }
}
