import StorageEngine

/// The result of migrating an archive's values.
public struct ArchiveMigration: Sendable, Hashable {
    /// Values stored again in the present version.
    public package(set) var migrated = 0
    /// Values that had the present version already.
    public package(set) var present = 0
    /// Values of a newer version than this program supports. They stay unchanged.
    public package(set) var newer = 0
    /// Values that can't be decoded, or are damaged. They stay unchanged.
    public package(set) var unreadable = 0
    /// Values that would exceed the disk limit in the present version. They stay unchanged.
    public package(set) var tooLarge = 0

    package init(migrated: Int = 0, present: Int = 0, newer: Int = 0, unreadable: Int = 0, tooLarge: Int = 0)
    {
        self.migrated = migrated
        self.present = present
        self.newer = newer
        self.unreadable = unreadable
        self.tooLarge = tooLarge
    }
}

extension ArchiveCore {
    static var namesAtOnce: Int { 256 }

    func beginMigration() throws -> (names: [String], outcome: ArchiveMigration) {
        let list = try archive.entries()
        var (names, outcome) = ([String](), ArchiveMigration())
        for index in list.indices where list.isReachable(at: index) {
            if let name = try presentName(in: list, at: index) {
                names.append(name)
            } else if try list.isDamaged(at: index) {
                outcome.unreadable += 1
            }
        }
        return (names, outcome)
    }

    func migrate(_ names: ArraySlice<String>, _ outcome: inout ArchiveMigration) throws {
        for name in names {
            do {
                try migrate(name, &outcome)
            } catch let error as ArchiveError where error.isNewerVersion {
                outcome.newer += 1
                reportUnreadable(name, error)
            } catch let error as ArchiveError {
                outcome.unreadable += 1
                reportUnreadable(name, error)
            } catch StorageError.corrupted(let path, let offset, let reason) {
                outcome.unreadable += 1
                reportUnreadable(name, StorageError.corrupted(path: path, offset: offset, reason: reason))
            } catch StorageError.valueTooLarge(let bytes, let limit, let archive) {
                outcome.tooLarge += 1
                log("migrate", name, StorageError.valueTooLarge(bytes: bytes, limit: limit, archive: archive))
            }
        }
    }

    private func migrate(_ name: String, _ outcome: inout ArchiveMigration) throws {
        try persist(name) {
            guard let present = try archive.current(name) else { return () }
            let decoded = try present.value.withUnsafeBytes { try shared.decode($0, name) }
            guard decoded.isMigrated else {
                outcome.present += 1
                return ()
            }
            // Look-ups would not find it by its own key.
            guard ExactText(decoded.object.primaryKey) == ExactText(name) else {
                throw ArchiveError.otherKey(wanted: name, computed: decoded.object.primaryKey)
            }
            let encoded = try coder.encode(decoded.object)
            guard
                try archive.rewrite(
                    encoded.bytes, forKey: name, ifSequence: present.sequence, encoding: encoded.encoding)
            else { return nil }
            try dropFromMemory(name)
            outcome.migrated += 1
            return ()
        }
    }
}
