import Vellum

extension ArchiveManager {
    /// The keys on disk, the most recent first. Doesn't count as an access.
    func keysByUse() throws -> [String] {
        let list = try core.archive.entries()
        return try list.indices.compactMap { try list.key(at: $0) }
    }
}
