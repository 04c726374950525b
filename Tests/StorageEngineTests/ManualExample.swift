// The example of Assets/manual/Library.md, identical below this line; a test compares the two.
import StorageEngine

func example(in folder: String) throws {
    let store = try Store.open(at: folder)
    defer { store.close() }
    let pages = try store.archive(
        named: "Pages", orCreate: ArchiveConfiguration(kind: .cache, diskLimit: 20_000_000))

    try pages.put(Array("<p>Hello</p>".utf8), forKey: "/index.html", encoding: .text)
    if let bytes = try pages.access("/index.html") {  // now the most recent; counts a hit
        print(String(decoding: bytes, as: UTF8.self))
    }
    let size = try pages.withPeek("/index.html") { $0.count }  // no copy; changes nothing
    print(size ?? 0, "bytes")

    let entries = try pages.entries(order: .leastRecentFirst)  // what would be evicted first
    for index in entries.indices.prefix(10) {
        print(try entries.key(at: index) ?? "(deleted)", entries[index].valueBytes)
    }

    do {
        try pages.put([UInt8](repeating: 0, count: 30_000_000), forKey: "too-large")
    } catch {
        print(error)  // a StorageError: one line with cause, place and remedy; nothing was evicted
    }
    try pages.setLimits(disk: 10_000_000, memory: nil)  // for all processes; evicts the excess
    try pages.delete("/index.html")
}
