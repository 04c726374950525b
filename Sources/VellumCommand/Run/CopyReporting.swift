import StorageEngine
import StoreInspection

/// What `backup`, `dump`, `copy` and `rename` say of the archives that they copy.
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
    /// Draws the state; returns `false` once the user has interrupted the command.
    mutating func goesOn(_ state: BackupProgress) -> Bool {
        update(done: UInt64(state.done), total: UInt64(state.total), entries: state.done)
        return !Interruption.isRequested
    }
}

extension Archive {
    /// Why a command that removes the archive is refused while these processes have it open.
    static func inUse(_ name: String, by processes: [String], advice: String) -> CommandFailure {
        CommandFailure(
            "\(processes.joined(separator: ", ")) \(processes.count == 1 ? "has" : "have") archive "
                + "\(TerminalSafe.quoted(name)) open; end them, or \(advice)", status: .nothing)
    }
}
