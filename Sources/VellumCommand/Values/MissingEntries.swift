extension Archive {
    /// Reports entries lost when the index was rebuilt, or with segments that can't be read. Returns whether there are any.
    func reportLoss(withSegments: Bool = false) throws(StorageError) -> Bool {
        guard let problem = try problem(withSegments: withSegments) else { return false }
        Console.warn("\(name): \(problem)")
        return true
    }

    /// Reports lost entries and then fails: an entry may be outdated or may have been deleted.
    func failIfDamaged(withSegments: Bool = false) throws {
        if try reportLoss(withSegments: withSegments) { throw CommandFailure(nil, status: .storeFailure) }
    }

    /// Performs `body` for an entry. If the entry is damaged, reports it and returns `nil`.
    func readingEntry<Result>(
        _ key: String, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result? {
        do throws(StorageError) { return try body() } catch {
            guard case .corrupted = error else { throw error }
            Console.reportDamage(key)
            return nil
        }
    }

    func amount() throws(StorageError) -> String {
        let status = try status()
        return status.configuration.kind == .log
            ? Figures.messages(status.entries, bytes: status.diskBytes)
            : Figures.amount(status.entries, bytes: status.diskBytes)
    }

    /// The status for an absent entry or archive, after a report of lost entries.
    func statusOfAbsence(withSegments: Bool = false) throws(StorageError) -> ExitStatus {
        try reportLoss(withSegments: withSegments) ? .storeFailure : .nothing
    }
}

extension Figures {
    static func messages(_ count: Int, bytes: UInt64) -> String {
        Figures.count(count, "message", "messages") + ", " + Figures.bytes(bytes)
    }
}

extension Console {
    static func reportAbsence(_ key: String) { warn("no entry \(TerminalSafe.quoted(key))") }

    /// The maximum number of damaged entries, or places of an archive, that a command names; it counts the others.
    static let mostDamaged = BackupReport.mostDamaged

    static func reportDamage(_ key: String) {
        warn("\(TerminalSafe.quoted(key)) cannot be read: the log is damaged; run vellum check")
    }

    static func reportMissing(_ count: Int) {
        guard count > 0 else { return }
        warn(
            "\(Figures.count(count, "entry", "entries")) cannot be read: the log is damaged; run vellum check"
        )
    }
}
