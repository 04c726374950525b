import Vellum

extension ArchiveManager {
    /// The keys on disk, the most recent first, without any trace.
    func keysByUse() throws -> [String] {
        let list = try core.archive.entries()
        return try list.indices.compactMap { try list.key(at: $0) }
    }
}
