struct ResizeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resize", abstract: "Changes the limits or the eviction policy of an archive.",
        discussion: """
            Applies to all processes at once. A smaller disk limit evicts entries in the order of the policy, or a log's oldest \
            messages, at once; that can't be undone. A collection has no disk limit.

            With the policy s3fifo, entries that are read only once don't evict entries that are accessed repeatedly; vellum \
            advise compares the policies. Programs of earlier versions can't open such an archive until --policy lru is set.

            Example: vellum resize City --disk 20MB
            """)

    @OptionGroup var reference: ArchiveReference

    @Option(help: ArgumentHelp("Limit of value bytes on disk, such as 20MB or 64KiB.", valueName: "size"))
    var disk: ByteCount?

    @Option(help: ArgumentHelp("Limit of value bytes in a process's memory.", valueName: "size"))
    var memory: ByteCount?

    @Option(
        help: ArgumentHelp("Eviction policy of a cache.", valueName: "lru|s3fifo"),
        completion: .list(EvictionPolicy.allCases.map { "\($0)" }), transform: EvictionPolicy.parse)
    var policy: EvictionPolicy?

    mutating func validate() throws {
        if disk == nil, memory == nil, policy == nil {
            throw ValidationError("pass --disk, --memory or --policy")
        }
    }

    func run() throws {
        let store = try reference.store.openForWriting(creating: false)
        defer { store.close() }
        let archive = try store.archive(named: reference.archive)
        let old = try archive.configuration()
        let before = try archive.status()
        try archive.changeConfiguration {
            if let disk { $0.diskLimit = disk.bytes }
            if let memory { $0.memoryLimit = memory.bytes }
            if let policy { $0.evictionPolicy = policy }
        }
        let after = try archive.status()
        var changes: [String] = []
        if let disk { changes.append("disk limit " + Self.change(old.diskLimit, disk.bytes)) }
        if let memory { changes.append("memory limit " + Self.change(old.memoryLimit, memory.bytes)) }
        if let policy {
            let was = old.evictionPolicy
            changes.append("eviction policy \(policy)" + (policy == was ? " as before" : ", was \(was)"))
        }
        let evicted = after.evictions &- before.evictions
        if evicted > 0 {
            let bytes = before.diskBytes - min(before.diskBytes, after.diskBytes)
            changes.append(
                "evicted "
                    + (old.kind == .log
                        ? Figures.count(evicted, "message", "messages")
                        : Figures.count(evicted, "entry", "entries")) + ", \(Figures.bytes(bytes))")
        } else if disk != nil || memory != nil {
            changes.append("nothing evicted")
        }
        Console.say("\(archive.name): " + changes.joined(separator: "; "))
    }

    private static func change(_ old: UInt64?, _ new: UInt64) -> String {
        let words = Figures.bytes(new)
        return old == new ? "\(words) as before" : "\(words), was \(old.map(Figures.bytes) ?? "none")"
    }
}
