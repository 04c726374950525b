import Foundation
import StorageEngine

/// A small closed archive with entries of many sizes: overwritten, deleted, evicted, tombstoned, with expiry times and
/// owners, one in memory only; or with messages.
struct Sample {
    let files: [String: [UInt8]]
    static let keys = (0..<40).map { "key \($0)" }

    static func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: number * 5 + 1) }

    init(_ kind: ArchiveKind) throws {
        let folder = try FuzzStore()
        try folder.set(["descriptor": FuzzStore.descriptor(kind: UInt8(kind.rawValue), limit: 3_000)])
        let store = try Store.open(at: folder.path)
        let archive = try store.archive(named: FuzzStore.archive)
        if kind == .log {
            for number in 0..<40 { _ = try archive.append(Sample.value(number)) }
        } else {
            for number in 0..<40 {
                let attributes =
                    number % 4 == 1
                    ? EntryAttributes(lifetime: .seconds(900 + number), owner: "owner \(number % 3)") : .none
                try archive.put(Sample.value(number), forKey: Sample.keys[number], attributes: attributes)
            }
            for number in stride(from: 0, to: 40, by: 9) { try archive.delete(Sample.keys[number]) }
            for number in stride(from: 2, to: 40, by: 5) {
                try archive.update(Sample.value(number), forKey: Sample.keys[number])
            }
            let list = try archive.entries()
            let plan = try list.indices.prefix(10).compactMap { index in
                try list.metadata(at: index).map { PlannedEntry(key: $0.key, sequence: $0.sequence) }
            }
            _ = try archive.carryOut(.delete, on: Array(plan.prefix(4)))
            _ = try archive.undo()
            _ = try archive.carryOut(.delete, on: Array(plan.suffix(3)))
            _ = try archive.setLifetime(.seconds(1000), forKey: Sample.keys[7])
        }
        store.close()
        files = try folder.files()
    }
}
