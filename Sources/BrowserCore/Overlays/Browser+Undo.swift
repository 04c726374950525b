import StorageEngine
import StoreInspection
import TerminalKit

/// Taking back what was deleted or expired, by whichever process.
extension Browser {
    static func askUndo(_ model: inout Model, _ purpose: UndoPurpose) -> [Effect] {
        guard let store = model.store, let archive = model.archiveInView else { return [] }
        return [.loadReversible(purpose, in: ArchiveAddress(archive, in: store))]
    }

    static func loaded(
        _ model: inout Model, _ purpose: UndoPurpose, archive: String,
        reversible result: Result<[ReversibleAction], SourceError>
    ) -> [Effect] {
        // Something else was opened while the answer was under way.
        guard model.overlay == nil, model.prompt == nil, archive == model.archiveInView else { return [] }
        switch result {
        case .failure(let error): model.say(error.description, role: .error)
        case .success(let actions):
            guard let latest = actions.first else {
                model.say(
                    "There is nothing to undo in \(archive). Undo ends after ten minutes, with a full disk, or what was too much for it with what is written."
                )
                return []
            }
            switch purpose {
            case .latest: model.overlay = .plan(Plan(undoing: latest, archive: archive))
            case .list: model.overlay = .undoList(UndoList(archive: archive, actions: actions))
            }
        }
        return []
    }

    static func press(_ model: inout Model, _ key: Key, in old: UndoList) -> [Effect] {
        var list = old
        switch key {
        case Key(.escape), .character("q"), .character("U"):
            model.overlay = nil
            return []
        case Key(.enter):
            model.overlay = .plan(Plan(undoing: list.actions[list.selected], archive: list.archive))
            return []
        case Key(.up), .character("k"): list.selected -= 1
        case Key(.down), .character("j"): list.selected += 1
        case Key(.home), .character("g"): list.selected = 0
        case Key(.end), .character("G"): list.selected = list.actions.count - 1
        default: break
        }
        list.selected = max(0, min(list.selected, list.actions.count - 1))
        let rows = OverlayPlaces.undoList(list, model).page
        list.first = Table.firstRow(
            showing: list.selected, of: list.actions.count, in: rows, from: list.first)
        model.overlay = .undoList(list)
        return []
    }

    static func undone(
        _ model: inout Model, _ ticket: Int, _ result: Result<Carried<UndoOutcome>?, SourceError>
    ) -> [Effect] {
        if model.job?.ticket == ticket { model.job = nil }
        switch result {
        case .failure(let error):
            model.overlay = .message(MessageBox(title: "Nothing was undone", lines: [error.description]))
            return []
        case .success(nil):
            model.say(
                "That can no longer be undone: its time is over, too much was written since, or the disk was full.",
                role: .warning)
            return []
        case .success(let carried?):
            let report = carried.outcome
            model.cost.note(writes: report.entries, longestCall: carried.longestCall)
            var words = "Nothing was restored"
            if report.entries > 0 {
                words = "\(Figures.count(report.entries, "entry", "entries")) restored"
                words += ", \(Figures.bytes(report.bytes))"
            }
            if report.skippedCount > 0 { words += ", \(Figures.count(report.skippedCount)) skipped" }
            if report.expired > 0 { words += ", \(Figures.count(report.expired)) expired meanwhile" }
            if report.displaced > 0 { words += ", \(Figures.count(report.displaced)) had no room" }
            if report.evicted > 0 {
                words += ", \(Figures.count(report.evicted)) evicted to make room"
            }
            if !report.isComplete {
                words = "Stopped: \(words); \(keyName(model, .undo)) takes back the rest"
            }
            if report.skipped.isEmpty {
                model.say(words + ".", role: .good, seconds: 10)
            } else {
                var lines = [
                    words + ".", "Skipped, because they were recorded anew, changed or expired since:",
                ]
                lines += report.skipped.map { "- \(TerminalText.sanitized($0))" }
                let rest = report.skippedCount - report.skipped.count
                if rest > 0 { lines.append("and \(Figures.count(rest)) more") }
                model.overlay = .message(MessageBox(title: "Undone", lines: lines))
            }
            model.entries?.keepsTop = report.entries > 0
            return refresh(&model, isForced: true)
        }
    }
}

extension Model {
    /// How a process is called: by its name if it still has the store open.
    func processName(_ pid: Int32) -> String {
        if pid == archives.figures?.ownPid { return "this browser (\(pid))" }
        guard let process = archives.figures?.processes.first(where: { $0.pid == pid }) else {
            return "process \(pid)"
        }
        return "\(process.name) (\(pid))"
    }
}
