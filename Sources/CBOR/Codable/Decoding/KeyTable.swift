/// Finds the entries of a map by the hash of their keys; the first of equal keys wins. Not thread-safe.
final class KeyTable {
    struct Entry {
        /// Offsets of the key and the value.
        let key: Int
        let value: Int
        let index: Int
    }

    /// In the map's order.
    private var entries: [Entry] = []
    /// Open addressing: indexes into `entries`, -1 for a free slot. A power of two, at least twice the entries.
    private var slots: [Int32] = Array(repeating: -1, count: 16)
    /// Whether all keys are texts and no two are equal.
    private(set) var isUnique = true

    init(count: Int?, first: Int, _ start: CBORReader) throws(ReadFault) {
        var reader = start
        reader.offset = first
        var place = 0
        while !reader.readEnd(count: count, read: place) {
            let offset = reader.offset
            let key = try reader.readMapKey()
            try add(key, Entry(key: offset, value: reader.offset, index: place), start)
            try reader.skipValue(isIndefinite: count == nil)
            place += 1
        }
    }

    private func add(_ key: MapKey, _ entry: Entry, _ reader: CBORReader) throws(ReadFault) {
        if case .other = key { return }
        if case .integer = key { isUnique = false }
        if 2 * entries.count >= slots.count { try grow(reader) }
        let (slot, known) = try find(key, reader)
        guard known == nil else {
            isUnique = false
            return
        }
        slots[slot] = Int32(truncatingIfNeeded: entries.count)
        entries.append(entry)
    }

    private func grow(_ reader: CBORReader) throws(ReadFault) {
        slots = Array(repeating: -1, count: 2 * slots.count)
        for (number, entry) in entries.enumerated() {
            slots[try find(try key(of: entry, reader), reader).slot] = Int32(truncatingIfNeeded: number)
        }
    }

    /// The slot of an equal key with its entry, or the free slot for the key.
    private func find(_ key: MapKey, _ reader: CBORReader) throws(ReadFault) -> (slot: Int, entry: Entry?) {
        var slot = Self.hash(key) & (slots.count - 1)
        while slots[slot] >= 0 {
            let entry = entries[Int(slots[slot])]
            if try self.key(of: entry, reader).isSame(as: key) { return (slot, entry) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return (slot, nil)
    }

    func entry(_ name: UnsafeRawBufferPointer, number: Int?, _ reader: CBORReader) throws(ReadFault) -> Entry?
    {
        let byName = try find(.text(name), reader).entry
        guard let number, let byNumber = try find(.integer(number), reader).entry else { return byName }
        guard let byName, byName.index < byNumber.index else { return byNumber }
        return byName
    }

    func keys(_ reader: CBORReader) throws(ReadFault) -> [MapKey] {
        var keys: [MapKey] = []
        keys.reserveCapacity(entries.count)
        for entry in entries { keys.append(try key(of: entry, reader)) }
        return keys
    }

    private func key(of entry: Entry, _ reader: CBORReader) throws(ReadFault) -> MapKey {
        var reader = reader
        reader.offset = entry.key
        return try reader.readMapKey()
    }

    /// Seeded randomly for each process, so that no crafted input can make all keys collide.
    private static func hash(_ key: MapKey) -> Int {
        var hasher = Hasher()
        switch key {
        case .text(let bytes): hasher.combine(bytes: bytes)
        case .assembled(let bytes): bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        case .integer(let number): hasher.combine(number)
        case .other: break
        }
        return hasher.finalize()
    }
}
