struct ArchiveArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Kind of a new archive: a cache evicts when it is full (default: cache with --disk or --policy, else collection).",
            valueName: "cache|collection"), completion: .list(["cache", "collection"]),
        transform: ArchiveKind.parse)
    var kind: ArchiveKind?

    @Option(
        help: ArgumentHelp(
            "For a new archive: limit of value bytes on disk, such as 20MB or 64KiB (a cache's default: 2MB).",
            valueName: "size"))
    var disk: ByteCount?

    @Option(
        help: ArgumentHelp(
            "For a new archive: limit of value bytes in a process's memory (default: 1MB).",
            valueName: "size"))
    var memory: ByteCount?

    @Option(
        help: ArgumentHelp("For a new cache: eviction policy (default: lru).", valueName: "lru|s3fifo"),
        completion: .list(EvictionPolicy.allCases.map { "\($0)" }), transform: EvictionPolicy.parse)
    var policy: EvictionPolicy?

    mutating func validate() throws {
        if kind == .log {
            throw ValidationError(
                "a log has messages, not entries; vellum append NAME --disk SIZE creates one")
        }
        if kind == .collection, disk != nil || policy != nil {
            throw ValidationError(
                "a collection never evicts, so it has no \(disk == nil ? "--policy" : "--disk limit")")
        }
    }

    var configuration: ArchiveConfiguration {
        let kind = kind ?? (disk == nil && policy == nil ? .collection : .cache)
        var configuration = ArchiveConfiguration(kind: kind)
        configuration.diskLimit = kind == .collection ? nil : disk?.bytes ?? configuration.diskLimit
        if let memory { configuration.memoryLimit = memory.bytes }
        if let policy { configuration.evictionPolicy = policy }
        return configuration
    }

    /// Opens or creates the archive for `body`; reports a kind or limits that differ from an existing archive's. Removes a newly
    /// created archive again if it is still empty after that.
    func withArchive(named name: String, in store: Store, _ body: (Archive) throws -> Void) throws {
        let isNew = try store.hasArchive(named: name) == false
        let archive = try store.archive(named: name, orCreate: configuration)
        let found = try archive.configuration()
        let differs =
            kind.map { $0 != found.kind } ?? false || disk.map { $0.bytes != found.diskLimit } ?? false
            || memory.map { $0.bytes != found.memoryLimit } ?? false
            || policy.map { $0 != found.evictionPolicy } ?? false
        if differs {
            Console.warn("archive \"\(name)\" already exists and keeps its kind, limits and policy")
        }
        defer {
            if isNew, let status = try? archive.status(), status.records == 0, status.attachedProcesses == 1 {
                try? store.removeArchive(named: name)
            }
        }
        try body(archive)
    }
}

extension EvictionPolicy {
    static func parse(_ word: String) throws -> EvictionPolicy {
        guard let policy = allCases.first(where: { "\($0)" == word }) else {
            throw ValidationError("unknown eviction policy \"\(word)\"; use lru or s3fifo")
        }
        return policy
    }
}

extension ArchiveKind {
    /// Accepts `log`, so that `validate()` can explain why it is refused.
    fileprivate static func parse(_ word: String) throws -> ArchiveKind {
        guard let kind = allCases.first(where: { "\($0)" == word }) else {
            throw ValidationError("unknown kind \"\(word)\"; use cache or collection")
        }
        return kind
    }
}
