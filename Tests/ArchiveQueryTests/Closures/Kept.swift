import TestSupport
import CBOR
import Foundation
import StorageEngine

/// An object with the metadata of its entry.
struct Kept<Object: Decodable> {
    let key: String
    let object: Object
    let bytes: [UInt8]
    let owner: String?
    let hits: Int
    /// 1 is the most recent.
    let rank: Int
}

extension Kept {
    /// Metadata of entries of every archive.
    static func metadata(of all: [Kept]) -> [ClosureProperty<Kept>] {
        [
            .text("@key", { $0.key }, samples: all.map(\.key)),
            .integer("@size", { $0.bytes.count }, samples: all.map(\.bytes.count)),
            .text("@owner", { $0.owner }, samples: ["api", "import", "none"]),
            .integer("@hits", { $0.hits }, samples: [0, 1, 2]),
            .integer("@rank", { $0.rank }, samples: [1, 10, 50]),
        ]
    }
}

/// An archive of objects of one kind and its contents. For one thread.
final class KeptObjects<Object: Decodable> {
    private let temporary: TemporaryArchive
    var archive: Archive { temporary.archive }
    /// The most recent first.
    private(set) var all: [Kept<Object>] = []

    /// Stores each value under its key, some with an owner; overwrites some and accesses some, so that LRU order differs from
    /// storage order.
    init(_ values: [(key: String, bytes: [UInt8])], using random: inout SeededGenerator) throws {
        temporary = try TemporaryArchive()
        var order: [String] = []
        var owners: [String: String] = [:]
        var hits: [String: Int] = [:]
        for (key, bytes) in values + values.shuffled(using: &random).prefix(values.count / 5) {
            owners[key] = ["api", "import", nil, nil].randomElement(using: &random)!
            try archive.put(
                bytes, forKey: key, encoding: .cbor, attributes: EntryAttributes(owner: owners[key]))
            order.removeAll { $0 == key }
            order.append(key)
        }
        for _ in 0..<values.count / 3 {
            let key = values.randomElement(using: &random)!.key
            _ = try archive.access(key)
            hits[key, default: 0] += 1
            order.removeAll { $0 == key }
            order.append(key)
        }
        all = try order.reversed().enumerated().map { place, key in
            let bytes = try archive.peek(key) ?? []
            return Kept(
                key: key, object: try CBORDecoder().decode(Object.self, from: bytes), bytes: bytes,
                owner: owners[key], hits: hits[key] ?? 0, rank: place + 1)
        }
    }
}
