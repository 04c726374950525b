import Vellum

extension ArchiveManager {
    /// The keys on disk, the most recent first, without any trace.
    func keysByUse() throws -> [String] {
        let list = try core.archive.entries()
        return list.indices.compactMap { list.key(at: $0) }
    }
}
