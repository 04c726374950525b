/// An archive of values by key.
public typealias ArchiveOfValues<Value: Codable> = ArchiveManager<KeyedValue<Value>>

extension ArchivesFactory {
    /// An archive of values by key, such as `Data`, `String` or any `Codable` type. The values need no wrapper type.
    ///
    /// ```swift
    /// let images = try ArchivesFactory.shared.values(of: Data.self, named: "images")
    /// images.record(bytes, forKey: "logo.png")
    /// let bytes = images.value(forKey: "logo.png")
    /// ```
    ///
    /// Returns an ``ArchiveManager`` of ``KeyedValue``s, with all its calls. The parameters are those of
    /// `archives(for:named:trySetMaxMemorySize:trySetMaxDiskSize:kind:durability:evictionPolicy:lifetime:slides:appliesSettings:)`.
    public func values<Value: Codable & Sendable>(
        of type: Value.Type = Value.self, named name: String, trySetMaxMemorySize memorySize: Int = 0,
        trySetMaxDiskSize diskSize: Int = 0, kind: ArchiveKind? = nil, durability: Durability? = nil,
        evictionPolicy: EvictionPolicy? = nil, lifetime: Duration? = nil, slides: Bool = false,
        appliesSettings: Bool = false
    ) throws -> ArchiveOfValues<Value> {
        try archives(
            for: KeyedValue<Value>.self, named: name, trySetMaxMemorySize: memorySize,
            trySetMaxDiskSize: diskSize, kind: kind, durability: durability,
            evictionPolicy: evictionPolicy, lifetime: lifetime, slides: slides,
            appliesSettings: appliesSettings)
    }

    /// The same for a type that isn't known to be `Sendable`.
    public func values<Value: Codable>(
        of type: Value.Type = Value.self, named name: String, trySetMaxMemorySize memorySize: Int = 0,
        trySetMaxDiskSize diskSize: Int = 0, kind: ArchiveKind? = nil, durability: Durability? = nil,
        evictionPolicy: EvictionPolicy? = nil, lifetime: Duration? = nil, slides: Bool = false,
        appliesSettings: Bool = false
    ) throws -> ArchiveOfValues<Value> {
        try archives(
            for: KeyedValue<Value>.self, named: name, trySetMaxMemorySize: memorySize,
            trySetMaxDiskSize: diskSize, kind: kind, durability: durability,
            evictionPolicy: evictionPolicy, lifetime: lifetime, slides: slides,
            appliesSettings: appliesSettings)
    }
}
