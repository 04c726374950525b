import Foundation

/// Operation that stored each value, to find incomplete batches at any later time.
struct PowerLossBatches {
    /// Number of the operation.
    private var serial = 0
    private var stored: [Data: Int] = [:]
    /// Last operation that deleted each key.
    private var removed: [String: Int] = [:]
    private var all: [(serial: Int, values: [String: Data])] = []

    mutating func begin() { serial += 1 }

    /// Notes a value before it is stored. Each value is unique.
    mutating func note(_ value: Data) { stored[value] = serial }

    mutating func add(_ changes: [String: Data?]) {
        all.append((serial, changes.compactMapValues { $0 }))
    }

    mutating func end(changes: [String: Data?]) {
        for (key, value) in changes where value == nil { removed[key] = serial }
    }

    /// Describes a batch of which one value is present while another key has an older one.
    func torn(_ found: [String: Data], mayEvict: Bool, underWay: Set<String>) -> String? {
        for batch in all where batch.values.contains(where: { found[$0.key] == $0.value }) {
            for key in batch.values.keys {
                guard let value = found[key] else {
                    // Deleted or evicted later.
                    if mayEvict || removed[key] ?? 0 > batch.serial || underWay.contains(key) { continue }
                    return "batch \(batch.serial) is present without \(key)"
                }
                if let other = stored[value], other < batch.serial {
                    return "batch \(batch.serial) is present, and \(key) is of operation \(other)"
                }
            }
        }
        return nil
    }
}
