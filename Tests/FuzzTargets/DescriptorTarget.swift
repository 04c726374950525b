import StorageEngine

/// Arbitrary bytes as an archive's descriptor. The first byte's lowest bit says whether the checksum is fixed.
package struct DescriptorTarget: FuzzTarget {
    package static let name = "descriptor"
    private let store: FuzzStore
    private let sample: Sample

    package init() throws {
        store = try FuzzStore()
        sample = try Sample(.cache)
    }

    package mutating func run(_ input: [UInt8]) throws -> String? {
        var files = sample.files
        let bytes = Array(input.dropFirst().prefix(4096))
        files["descriptor"] = (input.first ?? 0) & 1 == 0 ? FuzzStore.sealed(bytes) : bytes
        files["index"] = nil
        try store.set(files)
        let visit = Visit(store)
        let observed = visit.look(mode: .readOnly) ?? [:]
        for (key, value) in observed where Int(key.dropFirst(4)).map({ Sample.value($0) == value }) != true {
            return "\(key) has a value that is not its own"
        }
        visit.use(trusting: true)
        visit.repair()
        return visit.failure
    }

    package static func seeds() throws -> [[UInt8]] {
        (1...3).map { [0] + FuzzStore.descriptor(kind: $0, limit: 3_000).dropLast(4) }
            + [[1] + FuzzStore.descriptor(kind: 1)]
    }
}
