import ArchiveQuery
import StoreInspection

package enum CommandLine {
    /// The command without the program's name and the store.
    struct Words {
        var name: String
        var arguments: [String]
        var options: [String]
        /// A difference between the screen and the command's output.
        var remark: String?

        init(_ name: String, _ arguments: [String] = [], options: [String] = [], remark: String? = nil) {
            (self.name, self.arguments, self.options) = (name, arguments, options)
            self.remark = remark
        }

        /// An option with a value. A value with a leading dash needs `=`.
        static func option(_ name: String, _ value: String) -> [String] {
            value.utf8.first == UInt8(ascii: "-") ? ["\(name)=\(value)"] : [name, value]
        }

        private static let maximumKeys = 100

        /// Shows an entry. A key with a NUL needs a query, because shells can't pass it.
        static func showing(_ key: String, in archive: String, options: [String] = []) -> Words {
            guard ShellWord.isPassable(key) else {
                let wanted = QueryPredicate.compare(.metadata(.key), .equal, .text(key))
                return Words(
                    "query", [archive, QueryPipeline([.find(wanted)]).description],
                    remark: "Shells can't pass the NUL in the key, so this is a query.")
            }
            return Words("get", [archive, key], options: options)
        }

        static func removing(_ marks: Marks, from archive: ArchiveAddress) -> Words {
            let keys = marks.list.prefix(maximumKeys).map(\.key)
            let wanted = QueryPredicate.isIn(.metadata(.key), keys.map { .text($0) })
            var words =
                keys.allSatisfy(ShellWord.isPassable)
                ? Words("rm", [archive.name] + keys, options: ["--dry-run"])
                : Words("rm", [archive.name], options: ["--where", wanted.description, "--dry-run"])
            if marks.count > maximumKeys {
                words.remark =
                    "Only the first \(maximumKeys) of the \(Figures.count(marks.count)) marked keys."
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
        guard let file = model.store, model.isOfRingFile else { return (words, model.store) }
        if words.name == "stats" {
            words = Words("tail", remark: "No command prints this screen; this one prints the messages.")
        }
        if words.name != "watch" { words.name = "tail" }
        words.arguments = [file]
        return (words, nil)
    }
}
