/// What a repair takes out of an archive and keeps for a person to look at: files whose names end in `.damaged`,
/// which the engine otherwise ignores. They go with the archive.
enum DamagedFile {
    static let suffix = ".damaged"

    /// A name that is free: `NAME.damaged`, `NAME.2.damaged`, …
    static func freeName(for name: String, in folder: OpenFile) throws(StorageError) -> String {
        var candidate = name + suffix
        var number = 2
        while try folder.hasEntry(named: candidate) {
            candidate = name + "." + String(number) + suffix
            number += 1
        }
        return candidate
    }

    /// Renames a file, and returns its new name.
    static func setAside(_ name: String, in folder: OpenFile) throws(StorageError) -> String {
        let kept = try freeName(for: name, in: folder)
        try folder.rename(name, to: kept)
        return kept
    }
}
