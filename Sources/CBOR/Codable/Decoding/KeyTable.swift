/// The entries of a map by their keys; the first of equal keys wins. Not thread-safe.
final class KeyTable {
    struct Entry {
        /// Offsets of the key and the value.
        let key: Int
        let value: Int
        let index: Int
    }

    /// The keys in the map's order, valid as long as the input.
    private(set) var keys: [MapKey] = []
    private var entries: [MapKey: Entry] = [:]
    /// Whether all keys are texts and no two are equal.
    private(set) var isUnique = true

    init(count: Int?, first: Int, _ start: CBORReader) throws(ReadFault) {
        var reader = start
        reader.offset = first
        var place = 0
        while !reader.readEnd(count: count, read: place) {
            let offset = reader.offset
            let key = try reader.readMapKey()
            add(key, Entry(key: offset, value: reader.offset, index: place))
            try reader.skipValue(isIndefinite: count == nil)
            place += 1
        }
    }

    private func add(_ key: MapKey, _ entry: Entry) {
        if case .other = key { return }
        if case .integer = key { isUnique = false }
        guard entries[key] == nil else {
            isUnique = false
            return
        }
        entries[key] = entry
        keys.append(key)
    }

    func entry(_ name: UnsafeRawBufferPointer, number: Int?) -> Entry? {
        let byName = entries[.text(name)]
        guard let number, let byNumber = entries[.integer(number)] else { return byName }
        guard let byName, byName.index < byNumber.index else { return byNumber }
        return byName
    }
}
