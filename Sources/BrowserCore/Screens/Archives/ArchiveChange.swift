import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

/// A change of a whole archive, which can't be undone.
package enum ArchiveChange: Sendable, Hashable {
    /// Limits in bytes; nil: no limit.
    case resize(disk: UInt64?, memory: UInt64?)
    case compact
    case rename(String)
    case drop

    /// Reads `disk 400KB memory none`; a limit that isn't named stays as it is.
    init(limits text: String, of archive: ArchiveSample) throws(SourceError) {
        var limits = ["disk": archive.diskLimit, "memory": archive.memoryLimit]
        var words = text.split(separator: " ").map(String.init)
        // A single size is the disk limit.
        if words.count == 1, SizeText.bytes(words[0]) != nil { words.insert("disk", at: 0) }
        guard !words.isEmpty, words.count.isMultiple(of: 2) else {
            throw SourceError("write pairs, as in disk 20MB memory none")
        }
        for place in stride(from: 0, to: words.count, by: 2) {
            let (name, size) = (words[place].lowercased(), words[place + 1])
            guard limits[name] != nil else { throw SourceError("\(name) is neither disk nor memory") }
            let bytes = SizeText.bytes(size)
            guard bytes.map({ $0 > 0 }) ?? (size == "none") else {
                throw SourceError("\(size) is no size; write one such as 20MB, or none")
            }
            limits[name] = .some(bytes)
        }
        self = .resize(disk: limits["disk"] ?? nil, memory: limits["memory"] ?? nil)
    }

    /// Limits as ``init(limits:of:)`` reads them, exactly.
    static func text(disk: UInt64?, memory: UInt64?) -> String {
        "disk \(disk.map(SizeText.text) ?? "none") memory \(memory.map(SizeText.text) ?? "none")"
    }
}

extension ArchivesScreen {
    /// Starts a change of the selected archive: asks for limits, for a new name or, to drop it, for its name.
    static func ask(_ id: ActionID, _ model: inout Model) {
        guard let sample = selected(model), let archive = model.address(sample.name) else { return }
        let name = TerminalText.sanitized(sample.name)
        if let problem = sample.problem {
            return model.say("\(name) can't be read: \(problem)", role: .error)
        }
        let others = sample.living.filter { $0.pid != model.archives.figures?.ownPid }
        if id == .dropArchive || id == .renameArchive, let other = others.first {
            return model.say(
                "\(other.name) (\(other.pid)) has \(name) open; end it first.", role: .warning)
        }
        if id == .compactArchive { return plan(.compact, sample, archive, &model) }
        var prompt = Prompt(
            label: "", field: TextField(), keys: [("enter", "Continue"), ("esc", "Leave it")])
        switch id {
        case .resizeArchive:
            prompt.label = "Limits of \(name): "
            let text = ArchiveChange.text(disk: sample.diskLimit, memory: sample.memoryLimit)
            prompt.field = TextField(text)
        case .renameArchive: prompt.label = "New name of \(name): "
        default:
            prompt.label = "Type \(name) to drop it: "
            prompt.note = "  \(amount(sample)), no undo"
            prompt.keys[0].title = "Drop it"
        }
        prompt.purpose = .archive(id, archive)
        model.prompt = prompt
    }

    static func amount(_ sample: ArchiveSample) -> String {
        sample.kind == .log
            ? Figures.count(sample.entries, "message", "messages") + ", " + Figures.bytes(sample.diskBytes)
            : Figures.amount(sample.entries, bytes: sample.diskBytes)
    }

    /// Shows the plan for the typed text, or drops the archive if the text is its name.
    static func ended(
        _ model: inout Model, _ prompt: Prompt, _ id: ActionID, _ archive: ArchiveAddress
    ) -> [Effect] {
        guard let sample = model.sample(archive), !model.isReadOnly else { return [] }
        let text = prompt.field.text
        func refuse(_ reason: String) -> [Effect] {
            model.prompt = prompt
            model.prompt?.said = reason
            return []
        }
        switch id {
        case .resizeArchive:
            do throws(SourceError) {
                plan(try ArchiveChange(limits: text, of: sample), sample, archive, &model)
            } catch { return refuse(error.description) }
        case .renameArchive:
            if text.isEmpty || model.archives.summary(text) != nil {
                return refuse(text.isEmpty ? "write a name" : "there is an archive of that name")
            }
            plan(.rename(text), sample, archive, &model)
        default:
            guard ExactText(text) == ExactText(archive.name) else {
                return refuse("that isn't its name; nothing was dropped")
            }
            return carryOut(.drop, sample, archive, &model)
        }
        return []
    }

    private static func plan(
        _ change: ArchiveChange, _ sample: ArchiveSample, _ archive: ArchiveAddress, _ model: inout Model
    ) {
        let name = TerminalText.sanitized(sample.name)
        let (title, button): (String, String)
        var lines: [String]
        switch change {
        case .resize(let disk, let memory):
            (title, button) = ("Resize \(name)?", "Resize")
            lines = [("disk", sample.diskLimit, disk), ("memory", sample.memoryLimit, memory)].map { tier in
                let (old, new) = (tier.1.map(Figures.bytes) ?? "none", tier.2.map(Figures.bytes) ?? "none")
                return "\(tier.0) limit: \(old)" + (tier.1 == tier.2 ? ", stays" : " -> \(new)")
            }
            let excess = sample.diskBytes - min(sample.diskBytes, disk ?? .max)
            if excess > 0 {
                let which = sample.kind == .log ? "oldest" : "least recently used"
                lines.append("About \(Figures.bytes(excess)) are evicted, \(which) first. No undo.")
            }
        case .rename(let new):
            (title, button) = ("Rename \(name)?", "Rename")
            lines = [
                "\(amount(sample)) are copied to \(TerminalText.sanitized(new)), then \(name) is removed.",
                "Its events and its undo records are lost.",
            ]
        case .compact, .drop:
            (title, button) = ("Compact \(name)?", "Compact")
            lines = [
                "Its files take \(Figures.bytes(sample.footprint)) for \(Figures.bytes(sample.diskBytes)) of values. "
                    + "Space of removed entries is released; what undo can bring back stays."
            ]
        }
        model.overlay = .choice(
            Choice(title: title, lines: lines, button: button) { model in
                carryOut(change, sample, archive, &model)
            } left: { model in
                model.say("Nothing was changed.", seconds: 3)
            })
    }

    private static func carryOut(
        _ change: ArchiveChange, _ sample: ArchiveSample, _ archive: ArchiveAddress, _ model: inout Model
    ) -> [Effect] {
        let ticket = model.ticket()
        var job = Job(ticket: ticket, title: "changing \(archive.name)", since: model.now)
        job.isChange = true
        model.begin(job)
        return .ask("\(change) of \(archive.name)", ticket: ticket) { (context) throws(SourceError) in
            try context.source.change(archive, change, seen: sample, progress: context.progress)
        } then: { model, result in
            model.ends(ticket)
            switch result {
            case .success(let carried):
                model.cost.note(writes: 1, longestCall: carried.longestCall)
                model.say(carried.outcome, role: .good, seconds: 10)
                if case .rename(let new) = change { model.archives.renamed(archive.name, to: new) }
            case .failure(let error):
                model.overlay = .message("Nothing was done", [error.description])
            }
            return Browser.refresh(&model, isForced: true)
        }
    }
}
