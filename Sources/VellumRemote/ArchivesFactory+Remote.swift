import StorageEngine
import Vellum

extension ArchivesFactory {
    /// Returns the archive of a type whose objects a remote tier keeps for several machines, with near copies in this store.
    /// Further calls return the same object while it is retained, with the behavior, writes and lifetime of the first call.
    ///
    /// - Parameters:
    ///   - type: the type of the objects.
    ///   - name: the archive's name at the tier; `nil`: the type's ``Vellum/Archivable/archiveName``. The near copies are in the
    ///     archive `name@tier` of this store, so both together have at most 79 bytes.
    ///   - remote: the tier that keeps the objects.
    ///   - untracked: the behavior while the tier doesn't report changes.
    ///   - writes: when changes reach the tier.
    ///   - memorySize: limit for near copies in each process's memory, in bytes; 0 or less means 1 megabyte.
    ///   - diskSize: limit for near copies on disk, in bytes; 0 or less means 2 megabytes.
    ///   - lifetime: the lifetime of objects that this process records without one; `nil`: until they are deleted or evicted.
    ///   - reports: whether this process keeps a ``RemoteReport`` in this store.
    /// - Throws: as `archives(for:named:)`, and ``RemoteError/otherTier(name:)`` if the archive is in use here with another tier
    ///   of that name. An unreachable tier is no error: the connection is retried.
    public func archives<Object: Archivable & Sendable>(
        for type: Object.Type = Object.self, named name: String? = nil, remote: any RemoteTier,
        whenUntracked untracked: UntrackedBehavior = .refuse, writes: RemoteWrites = .through,
        trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0,
        lifetime: Duration? = nil, reports: Bool = true
    ) throws -> RemoteArchives<Object> {
        let name = name ?? Object.archiveName
        let near: ArchiveManager<Object> = try archives(
            named: "\(name)@\(remote.name)", trySetMaxMemorySize: memorySize, trySetMaxDiskSize: diskSize,
            kind: .cache)
        let (archives, isNew) = try inUse.withLock { inUse in
            let place = ObjectIdentifier(near.handle)
            if let known = inUse[place]?.archives as? RemoteArchives<Object> {
                guard known.tier === remote else { throw RemoteError.otherTier(name: remote.name) }
                return (known, false)
            }
            let archives = RemoteArchives(near, named: name, remote, untracked, writes, lifetime: lifetime)
            inUse = inUse.filter { $0.value.archives != nil }
            inUse[place] = InUse(archives: archives)
            return (archives, true)
        }
        if isNew, reports { RemoteReporter.shared.add(archives, named: "\(name)@\(remote.name)", in: self) }
        return archives
    }
}

/// One for each near archive: two would not see each other's changes.
private let inUse = Guarded<[ObjectIdentifier: InUse]>([:])

private struct InUse {
    weak var archives: (any AnyObject & Sendable)?
}
