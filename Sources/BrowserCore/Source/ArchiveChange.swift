import ArchiveQuery
import StorageEngine
import StoreInspection

/// A change of a whole archive. Only limits and the eviction policy can be restored.
package enum ArchiveChange: Sendable, Hashable {
    /// Limits in bytes; nil: no limit. The policy is that of a cache.
    case resize(disk: UInt64?, memory: UInt64?, policy: EvictionPolicy)
    case compact
    case rename(String)
    /// Deletes all messages of a log.
    case clear
    case drop

    /// Parses `disk 400 kB memory none policy s3fifo`. A limit without a name is the disk limit (of a collection, the memory limit). A limit is
    /// kept if it is missing or equal to the rounded one of ``text(_:)``.
    /// - Throws: also for a size without a unit, and for a disk limit of a collection.
    init(limits text: String, of archive: ArchiveSample) throws(SourceError) {
        var limits = ["disk": archive.diskLimit, "memory": archive.memoryLimit]
        var policy = archive.evictionPolicy
        var words = text.split(separator: " ").map(String.init)
        for place in words.indices.dropFirst().reversed() where Self.isUnit(words[place]) {
            words[place - 1] += words.remove(at: place)
        }
        if words.count == 1, SizeText.bytes(words[0]) != nil {
            words.insert(archive.kind == .collection ? "memory" : "disk", at: 0)
        }
        guard !words.isEmpty, words.count.isMultiple(of: 2) else {
            throw SourceError("write pairs, as in disk 20 MB memory none")
        }
        for place in stride(from: 0, to: words.count, by: 2) {
            let (name, size) = (words[place].lowercased(), words[place + 1])
            if name == "policy" {
                policy = try Self.policy(size, of: archive)
                continue
            }
            guard let old = limits[name] else {
                throw SourceError("write disk, memory or policy, not \(name)")
            }
            var bytes = size.last?.isLetter == true ? SizeText.bytes(size) : nil
            if let old, bytes == SizeText.bytes(Figures.bytes(old)) { bytes = old }
            guard bytes.map({ $0 > 0 }) ?? (size == "none") else {
                throw SourceError("\(size) is not a size: write 20 MB, 2 GiB or none")
            }
            guard archive.kind != .collection || name == "memory" || bytes == nil else {
                throw SourceError("a collection never evicts, so it has no disk limit")
            }
            limits[name] = .some(bytes)
        }
        self = .resize(disk: limits["disk"] ?? nil, memory: limits["memory"] ?? nil, policy: policy)
    }

    /// The limits and the policy that an archive has.
    static func present(_ archive: ArchiveSample) -> ArchiveChange {
        .resize(disk: archive.diskLimit, memory: archive.memoryLimit, policy: archive.evictionPolicy)
    }

    private static func policy(
        _ word: String, of archive: ArchiveSample
    ) throws(SourceError) -> EvictionPolicy {
        guard archive.kind == .cache else { throw SourceError("only a cache has an eviction policy") }
        guard let policy = EvictionPolicy.allCases.first(where: { "\($0)" == word.lowercased() }) else {
            let names = EvictionPolicy.allCases.map { "\($0)" }.joined(separator: " or ")
            throw SourceError("\(word) is not a policy: write \(names)")
        }
        return policy
    }

    private static func isUnit(_ word: String) -> Bool {
        word.first?.isLetter == true && SizeText.bytes("1" + word) != nil
    }

    /// The limits and the policy that an archive of this kind can have, as ``init(limits:of:)`` parses them and the screen rounds them.
    static func text(_ archive: ArchiveSample) -> String {
        let memory = "memory \(archive.memoryLimit.map(Figures.bytes) ?? "none")"
        if archive.kind == .collection { return memory }
        let policy = archive.kind == .cache ? " policy \(archive.evictionPolicy)" : ""
        return "disk \(archive.diskLimit.map(Figures.bytes) ?? "none") \(memory)\(policy)"
    }

    /// Bytes of values beyond the new disk limit.
    func excess(of sample: ArchiveSample) -> UInt64 {
        guard case .resize(let disk?, _, _) = self else { return 0 }
        return sample.diskBytes - min(sample.diskBytes, disk)
    }
}

extension ArchiveSample {
    /// `3 entries, 593 B`
    var amount: String {
        self.kind == .log
            ? Figures.count(self.entries, "message", "messages") + ", " + Figures.bytes(self.diskBytes)
            : Figures.amount(self.entries, bytes: self.diskBytes)
    }
}
