import Foundation

/// Which batch or other operation stored each value, so that a batch that is there in part is found out, however long ago
/// it was and whatever came after it.
struct PowerLossBatches {
    /// Number of the operation.
    private var serial = 0
    private var stored: [Data: Int] = [:]
    /// The last operation that took a key away.
    private var removed: [String: Int] = [:]
    private var all: [(serial: Int, values: [String: Data])] = []

    mutating func begin() { serial += 1 }

    /// A value that is going to be stored; no two are the same.
    mutating func note(_ value: Data) { stored[value] = serial }

    mutating func add(_ changes: [String: Data?]) {
        all.append((serial, changes.compactMapValues { $0 }))
    }

    mutating func end(changes: [String: Data?]) {
        for (key, value) in changes where value == nil { removed[key] = serial }
    }

    /// A batch of which one value is found under its key, and under another something older.
    func torn(_ found: [String: Data], mayEvict: Bool, underWay: Set<String>) -> String? {
        for batch in all where batch.values.contains(where: { found[$0.key] == $0.value }) {
            for key in batch.values.keys {
                guard let value = found[key] else {
                    // Taken away since.
                    if mayEvict || removed[key] ?? 0 > batch.serial || underWay.contains(key) { continue }
                    return "batch \(batch.serial) is there without \(key)"
                }
                if let other = stored[value], other < batch.serial {
                    return "batch \(batch.serial) is there, and \(key) is of operation \(other)"
                }
            }
        }
        return nil
    }
}
