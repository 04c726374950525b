import StoreInspection

/// The command line that gives what a screen shows. Stateless; safe to call from any thread.
package enum CommandLine {
    /// What stands behind the program's name and the store.
    struct Words {
        var name: String
        var arguments: [String]
        var options: [String]

        init(_ name: String, _ arguments: [String] = [], options: [String] = []) {
            (self.name, self.arguments, self.options) = (name, arguments, options)
        }
    }

    package static func words(for model: Model) -> String {
        let words = model.parts.command(model)
        return ShellWord.vellum(words.name, words.arguments, options: words.options, store: model.store)
    }
}
