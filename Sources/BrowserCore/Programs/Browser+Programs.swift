import StoreInspection
import TerminalKit

struct ProgramInput: Sendable {
    let name: String
    /// Writes the value or message to a new file in a folder; nil if stopped.
    let file: @Sendable (String, QuestionContext) throws(SourceError) -> PrivateFile?
}

extension Browser {
    static func chosenEntry(_ model: Model) -> EntryAddress? {
        guard let key = model.cursorKey, let archive = model.archiveInView else { return nil }
        return EntryAddress(key, in: archive)
    }

    private static func chosenInput(_ model: Model) -> ProgramInput? {
        model.parts.input(model)
            ?? chosenEntry(model).map { entry in
                ProgramInput(name: "\(entry)") { (folder, context) throws(SourceError) in
                    try privateFile(of: entry, folder, context)
                }
            }
    }

    static func open(_ model: inout Model) -> [Effect] {
        guard let input = chosenInput(model) else { return model.reply("No value to open here.") }
        let pager = model.environment.pager
        return [
            openInProgram(&model, input, "opening") { file in
                run("pager \(pager ?? "less")", TerminalProgram.pagerScript(pager), [file.path], with: file) {
                    TerminalProgram.failure("The pager", pager ?? "less", $0)
                }
            }
        ]
    }

    // MARK: A pipe

    static func askPipe(_ model: inout Model) {
        guard let input = chosenInput(model) else { return model.say("No value to pipe here.") }
        model.prompt = Prompt(
            label: "pipe to: ", field: TextField(placeholder: "command, such as jq .name"),
            keys: [("enter", "Run"), ("esc", "Cancel"), ("up/down", "History")], purpose: .pipe(input))
    }

    private static func pipe(_ model: inout Model, _ input: ProgramInput, to command: String) -> [Effect] {
        guard !command.allSatisfy(\.isWhitespace) else { return [] }
        model.pipes.removeAll { $0 == command }
        model.pipes.append(command)
        return [
            openInProgram(&model, input, "reading") { file in
                run("pipe to \(command)", TerminalProgram.pipeScript, [file.path, command], with: file) {
                    TerminalProgram.failure("The command", command, $0)
                }
            }
        ]
    }

    /// A program with a private file, which is removed when the program ends.
    private static func run(
        _ description: String, _ script: String, _ arguments: [String], with file: PrivateFile,
        failure: @escaping @Sendable (Result<Int32, SourceError>) -> String?
    ) -> TerminalProgram {
        TerminalProgram(
            description, script: TerminalProgram.removingFile(script), arguments: arguments
        ) { model, result in
            if let failure = failure(result) {
                model.say(TerminalText.sanitized(failure), role: .warning, seconds: 10)
            }
            return withExtendedLifetime(file) { [] }
        }
    }

    /// Writes the input to a file that only this user can read, and starts a program with it.
    private static func openInProgram(
        _ model: inout Model, _ input: ProgramInput, _ title: String,
        to program: @escaping @Sendable (PrivateFile) -> TerminalProgram
    ) -> Effect {
        let folder = model.environment.temporaryFolder
        let ticket = model.begin(title)
        return .ask("copy \(input.name) into a private file", ticket: ticket) {
            (context) throws(SourceError) in
            try input.file(folder, context)
        } then: { model, result in
            guard model.ends(ticket) else { return [] }
            switch result {
            case .success(let file?): return [.program(program(file))]
            case .success(nil): return []
            case .failure(let error): return model.reply(error.description.asSentence, role: .error)
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

    /// Asks for a file for the marked rows or, without marks, for the selected value.
    static func askFile(_ model: inout Model) {
        if model.parts.export(model) != nil { return askExport(&model) }
        guard let entry = chosenEntry(model) else { return model.say("No value to write here.") }
        var prompt = Prompt(
            label: "write to: ",
            field: TextField(fileName(entry.key, ending: isDocument(model) ? "json" : "")),
            keys: [("enter", "Write"), ("tab", "Complete"), ("esc", "Cancel")])
        prompt.field.isSuggestion = true
        prompt.purpose = .write(entry)
        model.prompt = prompt
    }

    /// The content that the prompt writes to a file of that name.
    static func fileNote(_ name: String, _ model: Model) -> String {
        guard let list = EntriesScreen.listExport(model)?.amount else {
            return "  .json writes JSON, other names the stored bytes"
        }
        if FileFormat(fileName: name) != nil { return "  writes \(list)" }
        return name.hasSuffix(".json")
            ? "  as JSON; .csv, .ndjson: \(list)"
            : "  as stored; .json: as JSON; .csv, .ndjson: \(list)"
    }

    private static func isDocument(_ model: Model) -> Bool {
        let load = model.screen == .value ? model.value?.load : model.entries?.preview.load
        return load?.entry.key == model.cursorKey && load?.content.tree != nil
    }

    /// Turns a key into a file name of ASCII letters, digits, `.`, `_` and `-`.
    static func fileName(_ name: String, ending: String) -> String {
        let plain = name.map { character -> Character in
            // CR LF is one ASCII character of two bytes.
            let isPlain = character.isLetter || character.isNumber || "._".contains(character)
            return character.utf8.count == 1 && isPlain ? character : "-"
        }
        let stem = String(plain.prefix(60))
        let hidden = stem.hasPrefix(".") ? "-" + stem.dropFirst() : stem
        return ending.isEmpty || hidden.hasSuffix("." + ending) ? hidden : "\(hidden).\(ending)"
    }

    static func write(
        _ model: inout Model, _ entry: EntryAddress, to path: String, replaces: Bool = false
    ) -> [Effect] {
        guard !path.isEmpty else { return [] }
        let target = filePath(path, model)
        let ticket = model.begin("writing \(path)")
        return .ask("write \(entry) to \(path)", ticket: ticket) { (context) throws(SourceError) in
            try context.unlessStopped { () throws(SourceError) in
                try writtenFile(of: entry, at: target, replaces: replaces, context)
            } ?? .stopped
        } done: { model, result in
            model.ends(ticket)
            switch result {
            case .success(.stopped): break
            case .success(.exists): model.overlay = Plan(replacing: path, by: entry, archive: entry.archive)
            case .success(.written(let report)):
                let what = report.isJSON ? " (JSON)" : ""
                model.say("Wrote \(Figures.bytes(report.bytes))\(what) to \(path).", role: .good, seconds: 10)
            case .failure(let error): model.overlay = MessageBox("Writing failed", [error.description])
            }
        }
    }

    private enum Written: Sendable {
        case written(ValueStream.Report)
        case exists
        case stopped
    }

    private static func writtenFile(
        of entry: EntryAddress, at target: String, replaces: Bool, _ context: QuestionContext
    ) throws(SourceError) -> Written {
        if !replaces, WholeFile.replacesFile(at: target) { return .exists }
        var file: WholeFile?
        defer { file?.discard() }
        let stream = ValueStream(
            entry: entry, form: target.hasSuffix(".json") ? .shown : .stored, source: context.source,
            progress: context.progress)
        let report = try stream.write { (_) throws(SourceError) in
            file?.discard()
            let new = try context.output(target, replaces: replaces).create()
            file = new
            return new.output
        }
        guard let report else { return .stopped }
        try file?.finish()
        return .written(report)
    }

    // MARK: Prompts that belong to no screen

    static func ended(_ model: inout Model, _ prompt: Prompt, isKept: Bool) -> [Effect] {
        guard isKept else { return [] }
        let text = prompt.field.text
        switch prompt.purpose {
        case .screen, .condition: return []
        case .saveQuery(let query): return QueryScreen.save(&model, query, named: text)
        case .export: return export(&model, to: text)
        case .pipe(let input): return pipe(&model, input, to: text)
        case .write(let entry):
            return FileFormat(fileName: text) != nil && EntriesScreen.listExport(model) != nil
                ? export(&model, to: text) : write(&model, entry, to: text)
        case .newEntry(let archive): return begin(&model, new: text, in: archive)
        case .part(let entry, let type): addPart(&model, text, to: entry, type)
        case .archive(let id, let archive): return ArchivesScreen.ended(&model, prompt, id, archive)
        case .store: return StoresScreen.openOther(text, &model)
        case .alarm(let metric, let archive): return setAlarm(&model, prompt, metric, of: archive)
        }
        return []
    }

    /// Up and down in a prompt with a history, latest first.
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
