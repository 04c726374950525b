import Logging
import StorageEngine

struct ArchiveRequest: Sendable, Hashable {
    var name: String?
    /// In bytes; not specified if 0 or less.
    var memorySize = 0
    var diskSize = 0
    var kind: ArchiveKind?
    var durability: Durability?
    var evictionPolicy: EvictionPolicy?
    var appliesSettings = false
    var lifetime: Duration?
    var slides = false

    func configuration(typeName: String, defaults: (memory: Int, disk: Int)) -> ArchiveConfiguration {
        let kind = kind ?? .cache
        let isUnlimited = kind == .collection && diskSize <= 0
        var configuration = ArchiveConfiguration(
            kind: kind,
            diskLimit: isUnlimited ? nil : UInt64(max(0, diskSize > 0 ? diskSize : defaults.disk)),
            memoryLimit: UInt64(max(0, memorySize > 0 ? memorySize : defaults.memory)), typeName: typeName,
            durability: durability ?? .process)
        configuration.evictionPolicy = evictionPolicy ?? .lru
        return configuration
    }
}

extension ArchiveCore {
    /// Rejects an archive of another type; one without a type name, such as the command line's, accepts every type.
    func expectOwnType() throws {
        let stored = try archive.configuration().typeName
        guard stored.isEmpty || stored == Object.archiveTypeName else {
            throw ArchiveError.nameInUse(
                archive: archive.name, by: stored, wanted: Object.archiveTypeName)
        }
    }

    func setLifetimes(_ request: ArchiveRequest) {
        if let lifetime = request.lifetime { shared.setLifetimes(lifetime, slides: request.slides) }
    }

    func apply(_ request: ArchiveRequest) throws {
        let found = try archive.configuration()
        if let kind = request.kind ?? (found.kind == .log ? .cache : nil), kind != found.kind {
            throw ArchiveError.otherKind(archive: archive.name, is: found.kind, wanted: kind)
        }
        let memory = request.memorySize > 0 ? UInt64(request.memorySize) : found.memoryLimit
        let disk = request.diskSize > 0 ? UInt64(request.diskSize) : found.diskLimit
        let durability = request.durability ?? found.durability
        let policy = request.evictionPolicy ?? found.evictionPolicy
        if request.appliesSettings {
            if memory != found.memoryLimit || disk != found.diskLimit {
                try archive.setLimits(disk: disk, memory: memory)
                _ = try self.memory.currentBytes()
            }
            if durability != found.durability { try archive.setDurability(durability) }
            if policy != found.evictionPolicy { try archive.setEvictionPolicy(policy) }
            return
        }
        warnIfDifferent("memory limit", memory.map(String.init), found.memoryLimit.map(String.init))
        warnIfDifferent("disk limit", disk.map(String.init), found.diskLimit.map(String.init))
        warnIfDifferent("eviction policy", "\(policy)", "\(found.evictionPolicy)")
        warnIfDifferent("durability", "\(durability)", "\(found.durability)")
    }

    private func warnIfDifferent(_ setting: String, _ asked: String?, _ found: String?) {
        guard asked != found else { return }
        factory.logger.warning(
            "vellum: the archive keeps its own \(setting); use appliesSettings or resize to change it",
            metadata: [
                "archive": "\(archive.name)", "asked": "\(asked ?? "none")", "has": "\(found ?? "none")",
            ])
    }
}
