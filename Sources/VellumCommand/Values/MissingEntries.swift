import StorageEngine
import StoreInspection

extension Archive {
    /// Reports the entries that were lost when the index was rebuilt, which can no longer be reported one by one.
    /// - Returns: whether there is anything.
    func complainOfLoss() throws(StorageError) -> Bool {
        guard let problem = try status().problem else { return false }
        Narration.complain("\(name): \(problem)")
        return true
    }

    /// Of something that isn't there: whether it was lost is told, as far as that is known.
    func statusOfAbsence() throws(StorageError) -> ExitStatus {
        try complainOfLoss() ? .storeFailure : .nothing
    }
}

extension Narration {
    /// Says how many entries of an archive could not be read, if any.
    static func complainOfMissing(_ count: Int) {
        guard count > 0 else { return }
        complain(
            "\(Figures.count(count, "entry", "entries")) cannot be read, for the log is damaged; run vellum check"
        )
    }
}
