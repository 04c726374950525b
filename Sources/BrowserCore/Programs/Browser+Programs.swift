import StoreInspection
import TerminalKit

/// The value under the cursor in other programs' hands: opened in a pager, piped to a command, written to a file.
extension Browser {
    /// The entry that the cursor is on, or whose value is shown.
    static func chosenEntry(_ model: Model) -> EntryAddress? {
        guard let key = model.cursorKey, let archive = model.archiveInView else { return nil }
        return EntryAddress(key, in: archive)
    }

    static func open(_ model: inout Model) -> [Effect] {
        guard let entry = chosenEntry(model) else {
            model.say("There is no value here to open.")
            return []
        }
        let pager = model.surroundings.pager
        return [
            handOver(&model, entry, "opening") { file in
                run("pager \(pager ?? "less")", TerminalProgram.pagerScript(pager), [file.path], with: file) {
                    TerminalProgram.complaint("The pager", pager ?? "less", $0)
                }
            }
        ]
    }

    // MARK: A pipe

    static func askPipe(_ model: inout Model) {
        guard let entry = chosenEntry(model) else { return model.say("There is no value here to pipe.") }
        var prompt = Prompt(
            label: "pipe to: ", field: TextField(placeholder: "a command, such as jq .name"),
            keys: [("enter", "Run"), ("esc", "Leave"), ("up/down", "Commands before")])
        prompt.purpose = .pipe(entry)
        model.prompt = prompt
    }

    private static func pipe(_ model: inout Model, _ entry: EntryAddress, to command: String) -> [Effect] {
        guard !command.allSatisfy(\.isWhitespace) else { return [] }
        model.pipes.removeAll { $0 == command }
        model.pipes.append(command)
        return [
            handOver(&model, entry, "reading") { file in
                run("pipe to \(command)", TerminalProgram.pipeScript, [file.path, command], with: file) {
                    TerminalProgram.complaint("The command", command, $0)
                }
            }
        ]
    }

    /// A program that gets a private file, which goes when the program has ended.
    private static func run(
        _ description: String, _ script: String, _ arguments: [String], with file: PrivateFile,
        complaint: @escaping @Sendable (Result<Int32, SourceError>) -> String?
    ) -> TerminalProgram {
        TerminalProgram(
            description, script: TerminalProgram.removingFile(script), arguments: arguments
        ) { model, result in
            if let complaint = complaint(result) {
                model.say(TerminalText.sanitized(complaint), role: .warning, seconds: 10)
            }
            return withExtendedLifetime(file) { [] }
        }
    }

    /// Writes the value into a file that only this user can read, and gives that to a program.
    private static func handOver(
        _ model: inout Model, _ entry: EntryAddress, _ title: String,
        to program: @escaping @Sendable (PrivateFile) -> TerminalProgram
    ) -> Effect {
        let folder = model.surroundings.temporaryFolder
        let ticket = model.ticket()
        model.begin(Job(ticket: ticket, title: title, since: model.now))
        return .ask("copy \(entry) into a private file", ticket: ticket) { (context) throws(SourceError) in
            try privateFile(of: entry, folder, context)
        } then: { model, result in
            // Nobody waits for it any more.
            guard model.ends(ticket) else { return [] }
            switch result {
            case .success(let file?): return [.program(program(file))]
            case .success(nil): return []
            case .failure(let error):
                model.say(error.description.asSentence, role: .error)
                return []
            }
        }
    }

    private static func privateFile(
        of entry: EntryAddress, _ folder: String, _ context: QuestionContext
    ) throws(SourceError) -> PrivateFile? {
        var file: PrivateFile?
        let stream = ValueStream(
            entry: entry, form: .shown, source: context.source, progress: context.progress)
        let report = try stream.write { (ending) throws(SourceError) in
            let new = try PrivateFile(named: "value." + ending, in: folder)
            file = new
            return new.output
        }
        return report == nil ? nil : file
    }

    // MARK: A file

    static func askFile(_ model: inout Model) {
        guard let entry = chosenEntry(model) else { return model.say("There is no value here to write.") }
        var prompt = Prompt(
            label: "write to: ",
            field: TextField(fileName(entry.key, ending: isDocument(model) ? "json" : "")),
            keys: [("enter", "Write"), ("esc", "Leave")])
        // The first character typed replaces it.
        prompt.field.isSuggestion = true
        prompt.purpose = .write(entry)
        prompt.note = "  .json: as JSON; else the stored bytes"
        model.prompt = prompt
    }

    private static func isDocument(_ model: Model) -> Bool {
        let load = model.screen == .value ? model.value?.load : model.entries?.preview.load
        return load?.entry.key == model.cursorKey && load?.content.tree != nil
    }

    /// A name for a file of what is called so in a store: letters, digits and a few signs.
    static func fileName(_ name: String, ending: String) -> String {
        let plain = name.map { character -> Character in
            // A letter with marks is one that files may have; a line break of two characters counts as ASCII.
            let isPlain = character.isLetter || character.isNumber || "._".contains(character)
            return character.utf8.count == 1 && isPlain ? character : "-"
        }
        let stem = String(plain.prefix(60))
        let hidden = stem.hasPrefix(".") ? "-" + stem.dropFirst() : stem
        return ending.isEmpty || hidden.hasSuffix("." + ending) ? hidden : "\(hidden).\(ending)"
    }

    /// - Parameter replaces: a person said that the file that is there may go.
    private static func write(
        _ model: inout Model, _ entry: EntryAddress, to path: String, replaces: Bool = false
    ) -> [Effect] {
        guard !path.isEmpty else { return [] }
        let folder = model.surroundings.writingFolder
        let ticket = model.ticket()
        model.begin(Job(ticket: ticket, title: "writing \(path)", since: model.now))
        return .ask("write \(entry) to \(path)", ticket: ticket) { (context) throws(SourceError) in
            try writtenFile(of: entry, path, in: folder, replaces: replaces, context)
        } then: { model, result in
            model.ends(ticket)
            switch result {
            case .success(.stopped): break
            case .success(.isThere): askToReplace(&model, entry, path)
            case .success(.written(let report)):
                // What was written comes before a path that may not fit.
                let what = report.isJSON ? "of JSON" : "as they are stored"
                model.say(
                    "\(Figures.bytes(report.bytes)) \(what) written to \(path).", role: .good, seconds: 10
                )
            case .failure(let error):
                model.overlay = .message("Nothing was written", [error.description])
            }
            return []
        }
    }

    private enum Written: Sendable {
        case written(ValueStream.Report)
        case isThere
        case stopped
    }

    private static func writtenFile(
        of entry: EntryAddress, _ path: String, in folder: String, replaces: Bool,
        _ context: QuestionContext
    ) throws(SourceError) -> Written {
        let typed = WholeFile.path(typed: path)
        let target = folder.isEmpty || typed.hasPrefix("/") ? typed : "\(folder)/\(typed)"
        if !replaces, WholeFile.replacesFile(at: target) { return .isThere }
        var file: WholeFile?
        defer { file?.discard() }
        let stream = ValueStream(
            entry: entry, form: target.hasSuffix(".json") ? .shown : .stored, source: context.source,
            progress: context.progress)
        let report = try stream.write { (_) throws(SourceError) in
            file?.discard()
            let new = try WholeFile(at: target, replaces: replaces)
            file = new
            return new.output
        }
        guard let report else { return .stopped }
        try file?.finish()
        return .written(report)
    }

    private static func askToReplace(_ model: inout Model, _ entry: EntryAddress, _ path: String) {
        model.overlay = .choice(
            Choice(
                title: "Replace the file?",
                lines: [
                    "There is a file \(path) already. If it is replaced, what is in it is lost; until the new one is whole "
                        + "it stays as it is."
                ], button: "Replace"
            ) { model in
                write(&model, entry, to: path, replaces: true)
            } left: { model in
                model.say("Nothing was written.", seconds: 3)
            })
    }

    // MARK: Prompts that belong to no screen

    static func ended(_ model: inout Model, _ prompt: Prompt, isKept: Bool) -> [Effect] {
        guard isKept else { return [] }
        let text = prompt.field.text
        switch prompt.purpose {
        case .screen, .condition: return []
        case .column(let archive): return EntriesScreen.addColumn(&model, text, archive)
        case .saveQuery(let query): return QueryScreen.save(&model, query, named: text)
        case .export: return QueryScreen.export(&model, to: text)
        case .pipe(let entry): return pipe(&model, entry, to: text)
        case .write(let entry): return write(&model, entry, to: text)
        case .newEntry(let archive): return begin(&model, new: text, in: archive)
        case .archive(let id, let archive, let seen):
            return ArchivesScreen.ended(&model, prompt, id, archive, seen: seen)
        case .alarm(let metric, let archive): return setAlarm(&model, prompt, metric, of: archive)
        }
    }

    /// Up and down in a prompt that remembers: what was typed before, the latest first.
    static func recall(_ model: inout Model, _ prompt: Prompt, step: Int) {
        guard case .pipe = prompt.purpose else { return }
        var prompt = prompt
        let place = (prompt.recalled ?? -1) + step
        guard place >= -1, place < model.pipes.count else { return }
        if prompt.recalled == nil { prompt.before = prompt.field.text }
        prompt.recalled = place < 0 ? nil : place
        prompt.field.text = place < 0 ? prompt.before : model.pipes[model.pipes.count - 1 - place]
        model.prompt = prompt
    }
}
