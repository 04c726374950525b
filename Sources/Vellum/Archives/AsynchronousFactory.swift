/// The calls of an ``ArchivesFactory`` for asynchronous code, which don't block the caller's thread while they wait for
/// the disk or another process: `try await factory.asynchronous.archives(for: User.self)`. Opening an archive reads its
/// files, and closing one syncs them.
public struct AsynchronousFactory: Sendable {
    let factory: ArchivesFactory

    /// As `ArchivesFactory.archives(for:named:trySetMaxMemorySize:trySetMaxDiskSize:kind:durability:lifetime:slides:appliesSettings:)`.
    public nonisolated(nonsending) func archives<Object: Archivable & Sendable>(
        for type: Object.Type = Object.self, named name: String? = nil,
        trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0,
        kind: ArchiveKind? = nil, durability: Durability? = nil,
        lifetime: Duration? = nil, slides: Bool = false, appliesSettings: Bool = false
    ) async throws -> ArchiveManager<Object> {
        try await BlockingExecutor.run { [factory] in
            try factory.archives(
                for: type, named: name, trySetMaxMemorySize: memorySize, trySetMaxDiskSize: diskSize,
                kind: kind, durability: durability, lifetime: lifetime, slides: slides,
                appliesSettings: appliesSettings)
        }
    }

    /// The same for a type that isn't known to be `Sendable`.
    public nonisolated(nonsending) func archives<Object: Archivable>(
        for type: Object.Type = Object.self, named name: String? = nil,
        trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0,
        kind: ArchiveKind? = nil, durability: Durability? = nil,
        lifetime: Duration? = nil, slides: Bool = false, appliesSettings: Bool = false
    ) async throws -> ArchiveManager<Object> {
        try await BlockingExecutor.run { [factory] in
            try factory.archives(
                for: type, named: name, trySetMaxMemorySize: memorySize, trySetMaxDiskSize: diskSize,
                kind: kind, durability: durability, lifetime: lifetime, slides: slides,
                appliesSettings: appliesSettings)
        }
    }

    /// As `ArchivesFactory.values(of:named:trySetMaxMemorySize:trySetMaxDiskSize:kind:durability:lifetime:slides:appliesSettings:)`.
    public nonisolated(nonsending) func values<Value: Codable & Sendable>(
        of type: Value.Type = Value.self, named name: String, trySetMaxMemorySize memorySize: Int = 0,
        trySetMaxDiskSize diskSize: Int = 0, kind: ArchiveKind? = nil, durability: Durability? = nil,
        lifetime: Duration? = nil, slides: Bool = false, appliesSettings: Bool = false
    ) async throws -> ArchiveOfValues<Value> {
        try await archives(
            for: KeyedValue<Value>.self, named: name, trySetMaxMemorySize: memorySize,
            trySetMaxDiskSize: diskSize, kind: kind, durability: durability, lifetime: lifetime,
            slides: slides, appliesSettings: appliesSettings)
    }

    /// The same for a type that isn't known to be `Sendable`.
    public nonisolated(nonsending) func values<Value: Codable>(
        of type: Value.Type = Value.self, named name: String, trySetMaxMemorySize memorySize: Int = 0,
        trySetMaxDiskSize diskSize: Int = 0, kind: ArchiveKind? = nil, durability: Durability? = nil,
        lifetime: Duration? = nil, slides: Bool = false, appliesSettings: Bool = false
    ) async throws -> ArchiveOfValues<Value> {
        try await archives(
            for: KeyedValue<Value>.self, named: name, trySetMaxMemorySize: memorySize,
            trySetMaxDiskSize: diskSize, kind: kind, durability: durability, lifetime: lifetime,
            slides: slides, appliesSettings: appliesSettings)
    }

    /// As ``ArchivesFactory/close()``.
    public nonisolated(nonsending) func close() async {
        // `close()` doesn't throw; only `run` is declared to.
        try? await BlockingExecutor.run { [factory] in factory.close() }
    }
}

extension ArchivesFactory {
    /// The calls that may wait for the disk or another process, for asynchronous code.
    public var asynchronous: AsynchronousFactory { AsynchronousFactory(factory: self) }
}
