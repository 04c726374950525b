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

        /// Marked keys that are spelled out; a shell takes no longer line anyway.
        private static let maximumKeys = 100

        /// What tells what a delete of the marked entries would do.
        static func removing(_ marks: Marks, from archive: ArchiveAddress) -> Words {
            Words(
                "rm", [archive.name] + marks.list.prefix(maximumKeys).map(\.key), options: ["--dry-run"])
        }
    }

    /// The command line, and what of the screen it leaves out.
    static func lines(for model: Model) -> [String] {
        let remark = model.parts.command(model).remark
        return [words(for: model)] + (remark.map { ["", $0] } ?? [])
    }

    package static func words(for model: Model) -> String {
        if let file = model.store, model.archives.figures?.isRingFile == true {
            return ShellWord.vellum("tail", [file], store: nil)
        }
        let words = model.parts.command(model)
        return ShellWord.vellum(words.name, words.arguments, options: words.options, store: model.store)
    }
}
