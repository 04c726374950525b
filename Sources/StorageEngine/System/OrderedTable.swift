/// Values in an array sorted by key: binary search. (A dictionary's first use costs half of an opening, for `Hashable`.)
struct OrderedTable<Key: Sendable, Value: Sendable>: Sendable {
    private var rows: [(key: Key, value: Value)] = []
    private let precedes: @Sendable (Key, Key) -> Bool

    /// `precedes`: a strict order of all keys. Two keys are the same if neither precedes the other.
    init(by precedes: @escaping @Sendable (Key, Key) -> Bool) { self.precedes = precedes }

    var count: Int { rows.count }
    var keys: [Key] { rows.map(\.key) }
    var values: [Value] { rows.map(\.value) }

    subscript(key: Key) -> Value? {
        get {
            let (place, isThere) = place(of: key)
            return isThere ? rows[place].value : nil
        }
        set {
            let (place, isThere) = place(of: key)
            switch (newValue, isThere) {
            case (let value?, true): rows[place].value = value
            case (let value?, false): rows.insert((key, value), at: place)
            case (nil, true): rows.remove(at: place)
            case (nil, false): break
            }
        }
    }

    @discardableResult mutating func removeValue(forKey key: Key) -> Value? {
        let (place, isThere) = place(of: key)
        return isThere ? rows.remove(at: place).value : nil
    }

    mutating func removeAll() { rows.removeAll() }

    private func place(of key: Key) -> (Int, isThere: Bool) {
        let place = rows.count(before: { precedes($0.key, key) })
        return (place, place < rows.count && !precedes(key, rows[place].key))
    }
}

extension Array {
    /// Number of leading elements for which `isBefore` is true: a binary search, as those are the first ones.
    @inline(__always) func count(before isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
