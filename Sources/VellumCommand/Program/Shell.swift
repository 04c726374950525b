import ArchiveQuery
import Foundation
import TerminalKit

/// Runs the lines of `vellum shell`, each in the system's shell, which handles interrupts, quotes and pipes. For one thread.
struct Shell {
    /// The store's folder, which commands read from the environment.
    let path: String
    private(set) var archive: (name: String, sample: PropertySample)?
    private(set) var isOver = false

    /// Words of this shell, besides commands and stages.
    static let words = ["use", "history", "help", "exit", "quit"]
    static let stages = QueryPipeline.completions(in: "", at: 0).filter { $0.kind == .word }.map(\.text)
    static let commands = VellumCommand.names.filter { $0 != ShellCommand.configuration.commandName }

    /// Throws if the path isn't a store. Sets the environment variable of the store for the commands.
    init(store path: String) throws {
        self.path = path
        _ = try open()
        // A line may change the working folder.
        let absolute =
            path.utf8.first == UInt8(ascii: "/")
            ? path : FileManager.default.currentDirectoryPath + "/" + path
        setenv("VELLUM_STORE", absolute, 1)
    }

    var prompt: String { (archive.map { TerminalText.sanitized($0.name) } ?? "vellum") + "> " }

    /// Opens the store. Called for each line, because the store may be recreated between lines.
    private func open() throws(StorageError) -> Store {
        try Store.open(at: path, mode: .readOnly, createIfMissing: false, options: .forReading)
    }

    func summary() -> String {
        guard let names = try? open().archiveNames() else { return "which can't be listed" }
        return Figures.count(names.count, "archive", "archives")
    }

    mutating func use(_ name: String) throws {
        let found = try open().archive(named: name)
        try found.requireEntries()
        archive = (name, try PropertySample(of: found))
    }

    func isUnfinished(_ line: String) -> Bool {
        if line.utf8.last == UInt8(ascii: "\\") { return true }
        return isQuery(line) && line.last { !$0.isWhitespace } == "|"
    }

    static func join(_ line: String, _ next: String) -> String {
        (line.utf8.last == UInt8(ascii: "\\") ? String(line.dropLast()) : line + " ") + next
    }

    func isQuery(_ line: String) -> Bool {
        let word = firstWord(of: line).lowercased()
        return Self.stages.contains { firstWord(of: $0) == word }
    }

    private func firstWord(of line: String) -> String {
        String(line.drop { $0.isWhitespace }.prefix { !$0.isWhitespace && !"|;&<>()".contains($0) })
    }

    /// - Throws: the error; without a message if the command has reported it.
    mutating func carryOut(_ line: String) throws {
        let word = firstWord(of: line)
        if isQuery(line) { return try query(line) }
        let rest = line.drop { $0.isWhitespace }.dropFirst(word.count).drop { $0.isWhitespace }
        switch word {
        case _ where line.allSatisfy(\.isWhitespace): return
        case "exit", "quit", "history":
            guard rest.isEmpty else { throw CommandFailure("\(word) takes no argument", status: .usage) }
            guard word == "history" else { return isOver = true }
            try OutputWriter.print((ShellHistory.standard?.lines ?? []).map { $0 + "\n" }.joined())
        case "use": try use(argument: String(rest))
        case "help" where rest.isEmpty: try OutputWriter.print(Self.help + "\n")
        case _ where word.hasPrefix("!"): try start(String(line.drop { $0.isWhitespace }.dropFirst()))
        case _ where Self.commands.contains(word) || word == "help" || word.hasPrefix("-"):
            try start("\(ShellWord.literal(DemoFile.executable)) \(line)")
        default:
            let near = Suggestion.nearest(to: word, among: Self.commands + Self.stages + Self.words)
            guard !word.isEmpty else {
                throw CommandFailure(
                    "a line begins with a command, a stage, or ! for the system's shell", status: .usage)
            }
            throw CommandFailure(
                "unknown command or stage \(TerminalSafe.quoted(word))"
                    + (near.map { "; did you mean \($0)?" } ?? "; help lists them"), status: .usage)
        }
    }

    private mutating func use(argument: String) throws {
        let names = ShellWord.words(in: argument).words.filter { !$0.isEmpty }
        guard let name = names.first, names.count == 1 else {
            let names = try open().archiveNames().map(TerminalSafe.quoted).joined(separator: " ")
            throw CommandFailure("use needs one archive: \(names)", status: .usage)
        }
        try use(name)
    }

    private func query(_ line: String) throws {
        guard let archive else {
            throw CommandFailure("select an archive first: use ARCHIVE", status: .usage)
        }
        let words = [DemoFile.executable, "query", "--", archive.name, line]
        try start(words.map(ShellWord.literal).joined(separator: " "))
    }

    /// Runs a line of the system's shell and waits. Interrupts reach only its process.
    private func start(_ line: String) throws {
        guard !line.utf8.contains(0) else { throw CommandFailure("the line contains a NUL", status: .usage) }
        guard line.utf8.count <= Self.longestLine else {
            throw CommandFailure(
                "the line has \(Figures.count(line.utf8.count, "byte", "bytes")), more than the system's shell accepts "
                    + "(\(Figures.count(Self.longestLine))); put a long query into a file: query ARCHIVE --file FILE",
                status: .usage)
        }
        let status = system(line)
        guard status != -1 else { throw CommandFailure("/bin/sh", errno: errno, status: .storeFailure) }
        let signal = status & 0x7f
        let code = signal == 0 ? status >> 8 & 0xff : 128 + signal
        if code != 0 { throw Failed(code: code) }
    }

    /// Linux takes no argument above 128 KiB, including its NUL.
    private static let longestLine = 131_071

    /// A command failed and has reported it.
    struct Failed: Error {
        /// The exit status, or 128 and the number of the signal.
        let code: Int32
    }

    private static let help = """
        use ARCHIVE      select the archive for queries
        \(wrapped(stages))
                         begin a query, such as: find population > 1000000 | limit 5
        \(wrapped(commands))
                         are commands; see help COMMAND
        !COMMAND         a command of the system's shell
        history          previous lines; ctrl+r searches them
        exit             or ctrl+d
        """

    private static func wrapped(_ words: [String]) -> String {
        TextWrap.lines(words.joined(separator: " "), columns: 78).joined(separator: "\n")
    }
}
