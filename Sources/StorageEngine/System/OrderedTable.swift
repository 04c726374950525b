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
        let place = rows.partitioningIndex(where: { !precedes($0.key, key) })
        return (place, place < rows.count && !precedes(key, rows[place].key))
    }
}

extension RandomAccessCollection where Index == Int {
    /// The index of the first element for which `predicate` is true, or the end: a binary search. Requires that the predicate is true
    /// for all elements after that one.
    @inline(__always) package func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
