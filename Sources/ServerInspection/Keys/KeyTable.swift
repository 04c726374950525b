/// Distinct keys in insertion order. Takes their bytes and some 20 bytes a key; an insertion takes amortized constant time.
package struct KeyTable: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    /// A hash table with linear probing of key numbers; -1 is free. At most half full.
    private var places: [Int32] = [Int32](repeating: -1, count: 64)

    package init() {}

    package var count: Int { ends.count }

    package subscript(_ index: Int) -> ArraySlice<UInt8> {
        bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
    }

    /// Inserts a key; returns false if it is present or the table is full.
    @discardableResult
    package mutating func insert(_ key: [UInt8]) -> Bool {
        let place = place(of: key[...])
        guard places[place] < 0, ends.count < Int(Int32.max) else { return false }
        places[place] = Int32(ends.count)
        bytes += key
        ends.append(bytes.count)
        if ends.count * 2 > places.count { grow() }
        return true
    }

    package func index(of key: [UInt8]) -> Int? {
        let found = places[place(of: key[...])]
        return found < 0 ? nil : Int(found)
    }

    private func place(of key: ArraySlice<UInt8>) -> Int {
        var place = KeyTable.hash(key) & (places.count - 1)
        while places[place] >= 0, self[Int(places[place])] != key { place = (place + 1) & (places.count - 1) }
        return place
    }

    private mutating func grow() {
        places = [Int32](repeating: -1, count: places.count * 2)
        for index in ends.indices { places[place(of: self[index])] = Int32(index) }
    }

    /// Seeded per process, against crafted collisions.
    private static func hash(_ key: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        key.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
