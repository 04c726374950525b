import ArchiveQuery
import Foundation
import StorageEngine
import Vellum

/// An object like those that users record.
struct Item: ArchiveCodable, Sendable {
    let primaryKey: String
    let name: String
    let number: Int
}

/// Stores for all operations, in a folder removed with the process. Always filled alike.
struct Subjects {
    static let entries = 10_000
    /// Entries of archives that are scanned as a whole.
    static let few = 100

    let path: String
    let collection: Archive
    /// An archive at its limit.
    let full: Archive
    let log: Archive
    let few: Archive
    let typed: ArchiveManager<Item>
    let onDisk: ArchiveManager<Item>
    let plan: QueryPlan
    let value = [UInt8](repeating: 7, count: 200)
    let present: [String]
    let new: [String]
    let items: [Item]

    init(in folder: String) throws {
        path = folder + "/engine"
        let names = (0..<4_000).map { "entry \($0 + 10_000)" }
        (present, new) = (Array(names.prefix(2_000)), names.map { "new \($0)" })
        items = new.enumerated().map { Item(primaryKey: $1, name: "the \($0)th of them", number: $0) }
        let store = try Store.open(at: path)
        func archive(_ name: String, kind: ArchiveKind = .collection, limit: UInt64? = nil) throws -> Archive
        {
            try store.archive(named: name, orCreate: ArchiveConfiguration(kind: kind, diskLimit: limit))
        }
        collection = try archive("Collection")
        full = try archive("Full", kind: .cache, limit: 1_000_000)
        log = try archive("Log", kind: .log, limit: 1_000_000)
        few = try archive("Few")
        for number in 0..<Subjects.entries {
            try collection.put(value, forKey: "entry \(number + 10_000)")
            try full.put(value, forKey: "entry \(number + 10_000)")
        }
        for number in 0..<Subjects.few {
            let json = #"{"name":"the \#(number)th of them","number":\#(number)}"#
            try few.put(Array(json.utf8), forKey: "entry \(number)", encoding: .json)
        }
        let factory = ArchivesFactory(storePath: folder + "/typed")
        typed = try factory.archives(for: Item.self)
        let second = ArchivesFactory(storePath: folder + "/typed on disk")
        onDisk = try second.archives(for: Item.self, trySetMaxMemorySize: 1)
        for item in items.prefix(1_500) { onDisk.record(item) }
        plan = try QueryPlan(QueryPipeline("find number >= 500 and name contains \"7\" | count"))
    }
}
