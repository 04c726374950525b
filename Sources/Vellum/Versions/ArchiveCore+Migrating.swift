import StorageEngine

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
