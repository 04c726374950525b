import StorageEngine
import StoreInspection

/// Reports of `backup`, `dump`, `copy` and `rename`.
extension BackupReport {
    var amount: String {
        Figures.amount(
            archives.reduce(0) { $0 + $1.entries }, bytes: archives.reduce(0) { $0 + $1.bytes })
    }

    func complainOfDamage() {
        for line in damaged { Narration.complain(line) }
    }
}

extension ProgressBar {
    /// Draws the state; returns `false` after an interruption.
    mutating func goesOn(_ state: BackupProgress) -> Bool {
        update(done: UInt64(state.done), total: UInt64(state.total), entries: state.done)
        return !Interruption.isRequested
    }
}

extension Archive {
    /// The refusal to remove an archive that these processes have open.
    static func inUse(_ name: String, by processes: [String], advice: String) -> CommandFailure {
        CommandFailure(
            "\(processes.joined(separator: ", ")) \(processes.count == 1 ? "has" : "have") archive "
                + "\(TerminalSafe.quoted(name)) open; end them, or \(advice)", status: .nothing)
    }
}
