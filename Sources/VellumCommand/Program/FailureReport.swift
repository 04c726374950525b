import CBOR
import CacheAdvance

enum FailureReport {
    static func report(_ error: any Error) -> ExitStatus {
        switch error {
        case let failure as CommandFailure:
            if let message = failure.message { Console.warn(message) }
            return failure.status
        case let error as StorageError:
            var message = error.description
            if case .storeNotFound(let path) = error { message = Suggestion.absence(ofStore: path) }
            Console.warn(
                message + (error.ringFileHint ?? "") + (Configuration.current.hint(for: error) ?? "")
                    + (Suggestion.archive(for: error) ?? ""))
            return error.exitStatus
        case let error as RingFileError:
            Console.warn(error.description)
            return error.exitStatus
        case let error as CBORError: return report(SourceError(unreadable: error))
        case let error as SourceError:
            Console.warn(error.description)
            return .storeFailure
        default: return reportParsing(error)
        }
    }

    /// The argument parser also returns help, version and completion scripts as errors.
    private static func reportParsing(_ error: any Error) -> ExitStatus {
        let text = VellumCommand.fullMessage(for: error)
        let arguments = ProgramArguments.withoutStore
        guard VellumCommand.exitCode(for: error) != .success else {
            if let status = reportUnknownTopic(arguments) { return status }
            if let hint = DashHint.forHelp(arguments) { Console.warn(hint) }
            do throws(SourceError) {
                try OutputWriter.print(CompletionDialect.completing(text) + "\n")
                return .done
            } catch {
                return report(error)
            }
        }
        let prefix = "Error: "
        Console.warn(text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text)
        if let hint = DashHint.forError(text, arguments) { Console.say(hint) }
        if let meant = Suggestion.command(for: arguments) { Console.say("did you mean: vellum \(meant)") }
        return .usage
    }

    /// The argument parser answers `help` for an unknown command with the program's help.
    private static func reportUnknownTopic(_ arguments: [String]) -> ExitStatus? {
        guard arguments.first == "help", let name = arguments.dropFirst().first, !name.hasPrefix("-"),
            VellumCommand.configuration.subcommands.allSatisfy({ $0.configuration.commandName != name })
        else { return nil }
        Console.warn("no command \(TerminalSafe.quoted(name)); vellum --help lists the commands")
        if let meant = Suggestion.command(for: [name]) { Console.say("did you mean: vellum help \(meant)") }
        return .usage
    }
}

extension Suggestion {
    fileprivate static func command(for arguments: [String]) -> String? {
        guard let word = arguments.first, word.utf8.first != UInt8(ascii: "-") else { return nil }
        let names = VellumCommand.names
        return names.contains(word) ? nil : nearest(to: word, among: names)
    }
}
