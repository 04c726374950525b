import CacheSimulation
import StorageEngine

/// The owners of an archive's entries or, if none has an owner, the prefixes of its keys, as groups of a simulation. Group 0 is that
/// of keys that aren't stored now. Owners with the name of such a group are in quotes.
struct AdviceGroups: Sendable {
    private static let most = 1000
    private static let sampledKeys = 1000
    /// Maximum number of keys whose groups are cached. The cache is then emptied.
    private static let mostKeys = 65_536
    static let absent = "(not stored now)"
    static let none = "(none)"
    static let others = "(others)"

    let grouping: Grouping
    private var names = [absent]
    private var numbers: [String: UInt16] = [:]
    /// The group of each key, and the owner's hash in its last sample, by tag.
    private var groups: [UInt32: (number: UInt16, owner: UInt32)] = [:]

    init(_ archive: Archive, _ requests: [SampledRequest]) {
        var keys: [String] = []
        for request in requests where request.kind != .deleteAll && keys.count < Self.sampledKeys {
            guard let entry = try? archive.entry(ofTag: request.tag) else { continue }
            if entry.owner != nil {
                grouping = .owner
                return
            }
            keys.append(entry.key)
        }
        grouping = .prefix(below: "", separator: Self.separator(of: keys))
    }

    /// The separator that most keys contain; of equally frequent ones the first.
    private static func separator(of keys: [String]) -> UInt8 {
        let counts = Grouping.separators.map { separator in keys.count { $0.utf8.contains(separator) } }
        return counts.max().flatMap { counts.firstIndex(of: $0) }.map { Grouping.separators[$0] }
            ?? Grouping.separators[0]
    }

    /// The group of a sampled key. Looks it up for a new key, and when the key is stored or its owner has changed.
    mutating func group(of sample: SampledRequest, in archive: Archive) -> UInt16 {
        let isPut = sample.kind == .put
        if let known = groups[sample.tag], known.number > 0 || !isPut,
            known.owner == sample.owner || sample.owner == 0 && !isPut
        {
            return known.number
        }
        if groups.count >= Self.mostKeys { groups = [:] }
        let group = (try? archive.entry(ofTag: sample.tag)).map { number(of: name(of: $0)) } ?? 0
        groups[sample.tag] = (group, sample.owner)
        return group
    }

    private func name(of entry: (key: String, owner: String?)) -> String {
        guard case .prefix(_, let separator) = grouping else {
            guard let owner = entry.owner else { return Self.none }
            return [Self.none, Self.absent, Self.others].contains(owner) ? "\"\(owner)\"" : owner
        }
        guard let end = entry.key.utf8.firstIndex(of: separator) else { return Self.none }
        return String(entry.key[...end])
    }

    private mutating func number(of name: String) -> UInt16 {
        if let number = numbers[name] { return number }
        let name = names.count < Self.most ? name : Self.others
        if let number = numbers[name] { return number }
        let number = UInt16(names.count)
        names.append(name)
        numbers[name] = number
        return number
    }

    /// Shares of the groups in a simulated cache, largest size first.
    func shares(_ shares: [MissRatioCurve.Share]) -> [ArchiveAdvice.Group] {
        let reads = max(1, shares.reduce(0) { $0 + $1.requests })
        let size = max(1, shares.reduce(0) { $0 + $1.size })
        return zip(names, shares).compactMap { name, share in
            guard share.requests > 0 || share.size > 0 else { return nil }
            return ArchiveAdvice.Group(
                name: name, reads: share.requests / reads, size: share.size / size,
                hitRatio: share.requests > 0 ? share.hits / share.requests : 0)
        }.sorted { ($1.size, $0.name) < ($0.size, $1.name) }
    }
}
