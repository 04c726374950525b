import ArgumentParser
import StorageEngine
import TerminalKit

/// `vellum browse`, which `vellum` alone is too.
struct BrowseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Opens the browser.",
        discussion: """
            Shows archives, entries in LRU order and values while other processes use the store. Without a named store \
            the stores of the caches folder are offered. Press ? for help.

            With --size it needs no terminal: it presses --keys, waits for all that they cause, and prints the last \
            screen. Keys type themselves; others are named, as in jj<enter>/foo<esc><ctrl+w>; < itself is <lt>.
            """)

    @OptionGroup var store: StoreArguments

    @Flag(help: "Offer nothing that changes the store.")
    var readOnly = false

    @Option(
        help: ArgumentHelp(
            "The colors.", valueName: Theme.Name.allCases.map(\.rawValue).joined(separator: "|")))
    var theme = Theme.Name.dark

    @Option(help: ArgumentHelp("Print a screen of this size instead.", valueName: "colsxrows"))
    var size: ScreenSize?

    @Option(help: ArgumentHelp("With --size: the keys to press.", valueName: "keys"))
    var keys: KeyScript?

    @Option(
        name: .customLong("print"),
        help: ArgumentHelp("With --size: what to print.", valueName: "text|ansi|svg"))
    var format: ScreenFormat?

    mutating func validate() throws {
        if size == nil, keys != nil || format != nil {
            throw ValidationError("--keys and --print need --size")
        }
    }

    func run() throws {
        let path = store.named
        // What is no store is said here, in one line, and not on a screen.
        if let path {
            try Store.open(at: path, mode: .readOnly, createIfMissing: false, options: .forLooking).close()
        }
        let session = BrowserSession(store: path, isReadOnly: readOnly, theme: theme)
        if let size {
            let output = OutputWriter()
            var picture = session.picture(size: size.size, keys: keys?.keys ?? [], format: format ?? .text)
            if picture.last != "\n" { picture += "\n" }
            try output.write(picture)
            return try output.flush()
        }
        if try session.runInTerminal() == .startDemo { try DemoCommand.parse([]).run() }
    }
}
