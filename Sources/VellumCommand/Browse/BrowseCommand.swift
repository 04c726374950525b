import ArgumentParser
import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `vellum browse`, which `vellum` alone is too.
struct BrowseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Opens the browser.",
        discussion: """
            Shows archives, entries in LRU order and values while other processes use the store. Without a named store \
            the stores of the caches folder are offered. With the path of a ring file (such as ./MyCache; one of the \
            CacheAdvance library is one) its messages are shown. Press ? for help.

            With --size it needs no terminal: it presses --keys, waits for all that they cause, and prints the last \
            screen. Keys type themselves; others are named, as in jj<enter>/foo<esc><ctrl+w>; < itself is <lt>.
            """)

    @OptionGroup var store: StoreArguments

    @Argument(
        help: ArgumentHelp("A ring file to look into instead of a store.", valueName: "file"),
        completion: .file())
    var file: String?

    @Flag(help: "Offer nothing that changes the store.")
    var readOnly = false

    @Option(
        help: ArgumentHelp(
            "The colors.", valueName: Theme.Name.allCases.map(\.rawValue).joined(separator: "|")))
    var theme: Theme.Name?

    @Option(help: ArgumentHelp("Print a screen of this size instead.", valueName: "colsxrows"))
    var size: ScreenSize?

    @Option(help: ArgumentHelp("With --size: the keys to press.", valueName: "keys"))
    var keys: KeyScript?

    @Option(
        name: .customLong("print"),
        help: ArgumentHelp("With --size: what to print.", valueName: "text|ansi|svg"))
    var format: ScreenFormat?

    mutating func validate() throws {
        if let file {
            // What isn't one at all is a slip of the pen, such as a command's name.
            guard file.contains("/") else {
                throw ValidationError(
                    "Unexpected argument '\(file)'; vellum help lists the commands, and a ring file's path has a slash: "
                        + "./\(file)")
            }
            if store.store != nil { throw ValidationError("--store and a ring file exclude each other") }
        }
        if size == nil, keys != nil || format != nil {
            throw ValidationError("--keys and --print need --size")
        }
    }

    func run() throws {
        let path = file ?? store.named
        // What is no store is said here, in one line, and not on a screen.
        var source: any StoreSource = EngineSource()
        if let file, let ring = RingFilePath(file, store: store) {
            _ = try ring.openForLooking()
            source = try RingFileSource(path: file)
        } else if let path {
            try Store.open(at: path, mode: .readOnly, createIfMissing: false, options: .forLooking).close()
            // Going back from it leads to the stores beside it.
            source = EngineSource(folder: Self.folder(of: path))
        }
        let session = BrowserSession(
            store: path, source: source, isReadOnly: readOnly || file != nil,
            theme: Configuration.current.theme(option: theme).value)
        if let size {
            ConfigurationReport.complain()
            let output = OutputWriter()
            var picture = session.picture(size: size.size, keys: keys?.keys ?? [], format: format ?? .text)
            if picture.last != "\n" { picture += "\n" }
            try output.write(picture)
            return try output.flush()
        }
        if try session.runInTerminal() == .startDemo { try DemoCommand.parse([]).run() }
    }

    /// The folder that a folder lies in.
    private static func folder(of path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent().path
    }
}
