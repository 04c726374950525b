import ArchiveQuery
import CBOR
import StorageEngine

/// Collects which properties the values of an archive have, for completion. For one thread.
struct PropertyNames {
    /// Values that are looked at.
    static let sample = 200
    private static let most = 500
    private static let deepest = 3

    /// In the order in which they were seen, the way to a property of a property with dots between.
    private(set) var names: [String] = []
    private var known: Set<ExactText> = []

    mutating func add(_ value: CBORValue) { add(value, behind: "", depth: 1) }

    private mutating func add(_ value: CBORValue, behind path: String, depth: Int) {
        guard case .map(let map) = value else { return }
        for entry in map.entries {
            // A dot in a name would be taken for the way to another.
            guard let name = entry.key.asString, !name.utf8.contains(UInt8(ascii: ".")),
                names.count < PropertyNames.most
            else { continue }
            if known.insert(ExactText(path + name)).inserted { names.append(path + name) }
            if depth < PropertyNames.deepest { add(entry.value, behind: path + name + ".", depth: depth + 1) }
        }
    }
}
