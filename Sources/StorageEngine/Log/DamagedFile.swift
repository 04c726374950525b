/// Files that a repair keeps for examination, named `….damaged`. They are removed with the archive.
enum DamagedFile {
    static let suffix = ".damaged"

    /// Returns a free name: `NAME.damaged`, `NAME.2.damaged`, …
    static func freeName(for name: String, in folder: FileDescriptor) throws(StorageError) -> String {
        var candidate = name + suffix
        var number = 2
        while try folder.hasEntry(named: candidate) {
            candidate = name + "." + String(number) + suffix
            number += 1
        }
        return candidate
    }

    static func quarantine(_ name: String, in folder: FileDescriptor) throws(StorageError) -> String {
        let kept = try freeName(for: name, in: folder)
        try folder.rename(name, to: kept)
        return kept
    }
}
