import StorageEngine

extension WorkerCommand {
    /// `reorder STORE ARCHIVE POINT KEY`: stores "a" to "e", then "a" and "b" again, accesses "c", and dies at POINT
    /// while it stores KEY.
    func reorder(_ arguments: WorkerArguments) throws {
        let store = try Store.open(at: arguments.storePath)
        let archive = try store.archive(
            named: arguments.archiveName, orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        for key in ["a", "b", "c", "d", "e", "a", "b"] { try archive.put([1, 2, 3], forKey: key) }
        _ = try archive.access("c")
        guard let point = CrashPoint(rawValue: arguments.word(3)) else { return say("! no such point") }
        CrashPoint.arm(point, passing: 1)
        try archive.put([4, 5, 6], forKey: arguments.word(4))
    }
}
