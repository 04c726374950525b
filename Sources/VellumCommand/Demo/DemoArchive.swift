/// The archives of the demonstration, as a map server would keep them.
enum DemoArchive: String, CaseIterable, Sendable {
    /// A cache with space for half of the cities.
    case cities = "City"
    /// A collection that the workload doesn't change.
    case countries = "Country"
    case journal = "Journal"
    /// A cache of texts, partly also in memory. LRU suits it badly: most texts are read once.
    case pages = "Page"
    /// A cache of sessions that expire when idle.
    case sessions = "Session"
    /// A cache of images whose sizes differ by a factor of thousands.
    case thumbnails = "Thumbnail"

    static let ofWorkload: [DemoArchive] = [.cities, .pages, .sessions, .thumbnails]

    static let pageMemory: UInt64 = 40_000

    func configuration(_ data: DemoData) -> ArchiveConfiguration {
        switch self {
        case .cities: cache(UInt64(data.bytes / 2))
        case .countries: ArchiveConfiguration(kind: .collection, diskLimit: nil, typeName: rawValue)
        case .journal: ArchiveConfiguration(kind: .log, diskLimit: 64_000, typeName: rawValue)
        case .pages: cache(80_000, memory: Self.pageMemory)
        case .sessions: cache(60_000)
        case .thumbnails: cache(6_000_000)
        }
    }

    private func cache(_ disk: UInt64, memory: UInt64 = 1_000_000) -> ArchiveConfiguration {
        ArchiveConfiguration(kind: .cache, diskLimit: disk, memoryLimit: memory, typeName: rawValue)
    }

    /// Opens or creates the archive; throws if a different one has the name.
    func open(in store: Store, _ data: DemoData) throws -> Archive {
        let wanted = configuration(data)
        let archive = try store.archive(named: rawValue, orCreate: wanted)
        try requireOwn(archive, store, wanted)
        return archive
    }

    static func requireFreeNames(in store: Store, _ data: DemoData) throws {
        let names = try store.archiveNames()
        for archive in allCases where names.contains(archive.rawValue) {
            try archive.requireOwn(
                try store.archive(named: archive.rawValue), store, archive.configuration(data))
        }
    }

    private func requireOwn(_ archive: Archive, _ store: Store, _ wanted: ArchiveConfiguration) throws {
        let found = try archive.configuration()
        guard found.kind == wanted.kind, found.typeName == wanted.typeName else {
            throw CommandFailure(
                "\(store.path) already has an archive \(rawValue) that isn't the demonstration's",
                status: .usage)
        }
    }
}
