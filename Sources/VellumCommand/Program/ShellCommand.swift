import TerminalKit

struct ShellCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell", abstract: "Runs queries and commands at a prompt.",
        discussion: """
            A line that begins with a stage, such as find or count, is a query over the current archive, as for vellum \
            query; a line that ends with | continues in the next one. use ARCHIVE selects the archive. Any other line is a \
            command of this program without its name, read by the system's shell, so that quotes, > and | work: keys City \
            --prefix a | head. A line that begins with ! is a command of that shell; history, help and exit are built in.

            The tab key completes commands, archives, keys, and the properties and values of a query; up and ctrl+r recall \
            previous lines, also of earlier sessions. A line that begins with a space is not remembered. Press ctrl+c to drop \
            a line or to interrupt a command, ctrl+d to quit.

            A terminal without cursor control (TERM=dumb) has a prompt and its own line editing. Without a terminal, lines \
            are read from standard input, # begins a comment, and the first line that fails ends the shell with its status.

            Example: vellum --store Caches shell City
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive for queries.", completion: .archives)
    var archive: String?

    func run() throws {
        var shell = try Shell(store: store.pathForReading())
        if let archive { try shell.use(archive) }
        guard Confirmation.isPossible else { return try runScript(&shell) }
        Console.say(
            "\(TerminalText.sanitized(shell.path)), \(shell.summary()); help lists commands, ctrl+d quits")
        let history = ShellHistory.standard
        if SystemText.isTerminalPlain {
            let lines = PlainLines(history: history)
            try run(&shell) { try lines.next($0) }
        } else {
            let editor = try LineEditor(history: history)
            try run(&shell) { try editor.nextLine($0) }
        }
    }

    private func run(_ shell: inout Shell, _ next: (Shell) throws -> String?) throws {
        while let line = try next(shell) {
            do {
                try shell.carryOut(line)
                if shell.isOver { return }
            } catch let failed as Shell.Failed {
                // The command has reported its failure. After ^C the cursor isn't at the start of a line.
                if failed.code > 128 { Console.write("\n") }
            } catch {
                _ = FailureReport.report(error)
            }
        }
    }

    private func runScript(_ shell: inout Shell) throws {
        let lines = try ScriptLines()
        while let line = try lines.next(isUnfinished: shell.isUnfinished) {
            let (first, number) = (line.text.drop { $0.isWhitespace }, line.number)
            guard !first.isEmpty, first.first != "#" else { continue }
            do {
                try shell.carryOut(line.text)
            } catch {
                let failure = error as? Shell.Failed
                let code = failure?.code ?? FailureReport.report(error).rawValue
                Console.warn("line \(number) of the input failed")
                ExitStatus.end(withCode: code)
            }
            if shell.isOver { return }
        }
    }
}

/// Lines of a script on standard input. Commands get an empty input, so that they don't consume the following lines. For one
/// thread.
private final class ScriptLines {
    private let input: InputBuffer
    private var number = 0

    init() throws(CommandFailure) {
        input = try InputBuffer(path: "-")
        let copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        guard copy >= 0 else { throw CommandFailure("standard input", errno: errno, status: .usage) }
        input.descriptor = copy
        let nothing = open("/dev/null", O_RDONLY)
        guard nothing >= 0 else { throw CommandFailure("/dev/null", errno: errno, status: .usage) }
        dup2(nothing, STDIN_FILENO)
        if nothing != STDIN_FILENO { close(nothing) }
    }

    /// The next complete input and its line number; nil at the end.
    func next(isUnfinished: (String) -> Bool) throws(CommandFailure) -> (text: String, number: Int)? {
        guard var text = try one() else { return nil }
        let first = number
        while isUnfinished(text), let more = try one() { text = Shell.join(text, more) }
        return (text, first)
    }

    private func one() throws(CommandFailure) -> String? {
        let (length, isWhole) = try input.lineLength()
        guard isWhole || length > 0 else { return nil }
        number += 1
        guard let text = String(validating: input.unread[..<length], as: UTF8.self) else {
            throw CommandFailure("line \(number) of the input isn't UTF-8 text", status: .usage)
        }
        input.consume(length + (isWhole ? 1 : 0))
        return text.last == "\r" ? String(text.dropLast()) : text
    }
}
