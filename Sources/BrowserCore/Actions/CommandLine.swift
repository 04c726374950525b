import ArchiveQuery
import StoreInspection

/// The command line that gives what a screen shows. Stateless; safe to call from any thread.
package enum CommandLine {
    /// What stands behind the program's name and the store.
    struct Words {
        var name: String
        var arguments: [String]
        var options: [String]
        /// What the screen shows otherwise than the command does; nil: nothing.
        var remark: String?

        init(_ name: String, _ arguments: [String] = [], options: [String] = []) {
            (self.name, self.arguments, self.options) = (name, arguments, options)
        }

        /// An option with a value; one that begins with a dash would be taken for another option.
        static func option(_ name: String, _ value: String) -> [String] {
            value.utf8.first == UInt8(ascii: "-") ? ["\(name)=\(value)"] : [name, value]
        }

        /// Marked keys that are spelled out; a shell takes no longer line anyway.
        private static let maximumKeys = 100

        /// What shows an entry. No word of a command has a NUL in it: a shell ends it there, and another key is asked for.
        static func showing(_ key: String, in archive: String, options: [String] = []) -> Words {
            guard ShellWord.isPassedOn(key) else {
                let wanted = QueryPredicate.compare(.metadata(.key), .equal, .text(key))
                var words = Words("query", [archive, QueryPipeline([.find(wanted)]).description])
                words.remark = "No shell passes on the NUL in the key, so it is asked for."
                return words
            }
            return Words("get", [archive, key], options: options)
        }

        static func removing(_ marks: Marks, from archive: ArchiveAddress) -> Words {
            let keys = marks.list.prefix(maximumKeys).map(\.key)
            let wanted = QueryPredicate.isIn(.metadata(.key), keys.map { .text($0) })
            var words =
                keys.allSatisfy(ShellWord.isPassedOn)
                ? Words("rm", [archive.name] + keys, options: ["--dry-run"])
                : Words("rm", [archive.name], options: ["--where", wanted.description, "--dry-run"])
            if marks.count > maximumKeys {
                words.remark = "It names \(maximumKeys) of the \(Figures.count(marks.count)) that are marked."
            }
            return words
        }
    }

    package static func lines(for model: Model) -> [String] {
        let remark = command(for: model).words.remark
        return [words(for: model)] + (remark.map { ["", $0] } ?? [])
    }

    package static func words(for model: Model) -> String {
        let (words, store) = command(for: model)
        return ShellWord.vellum(words.name, words.arguments, options: words.options, store: store)
    }

    private static func command(for model: Model) -> (words: Words, store: String?) {
        var words = model.parts.command(model)
        guard let file = model.store, model.isOfRingFile else {
            return (words, model.store)
        }
        // All there is of a ring file are its messages and what happens to them.
        if words.name == "stats" {
            words = Words("tail")
            words.remark = "No command shows this of a ring file; that one prints its messages."
        }
        if words.name != "watch" { words.name = "tail" }
        words.arguments = [file]
        return (words, nil)
    }
}
