/// Reports of `backup`, `dump`, `copy` and `rename`.
extension BackupReport {
    var amount: String {
        Figures.amount(archives.reduce(0) { $0 + $1.entries }, bytes: archives.reduce(0) { $0 + $1.bytes })
    }

    func reportDamage() {
        for line in damaged { Console.warn(line) }
    }
}

extension ProgressBar {
    /// Draws the state; returns `false` after an interruption.
    mutating func shouldContinue(_ state: BackupProgress) -> Bool {
        update(done: UInt64(state.done), total: UInt64(state.total), entries: state.done)
        return !Interruption.isRequested
    }
}

extension Archive {
    /// - Throws: if other processes have the archive open for writing.
    func requireUnused(advice: String) throws {
        let others = try processes().filter { $0.isAlive && $0.pid != getpid() }
        guard !others.isEmpty else { return }
        let names = others.map { "\($0.name) (\($0.pid))" }.joined(separator: ", ")
        throw CommandFailure(
            "\(names) \(others.count == 1 ? "has" : "have") archive \(TerminalSafe.quoted(name)) open; end the process, or "
                + advice, status: .nothing)
    }
}
