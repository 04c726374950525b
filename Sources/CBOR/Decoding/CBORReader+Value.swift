extension CBORReader {
    /// Items to reserve memory for at once, however many a nested container claims.
    private static let reserveLimit = 64

    /// Builds the next item with everything inside it. O(size); ``maximumDepth`` bounds the stack.
    public mutating func readValue() throws(CBORError) -> CBORValue { try readValue(depth: 0) }

    private mutating func readValue(depth: Int) throws(CBORError) -> CBORValue {
        let start = offset
        switch try readHead() {
        case .unsigned(let number): return .unsigned(number)
        case .negative(let number): return .negative(number)
        case .bytes(let count): return .bytes(try readBytes(count: count))
        case .text(let count): return .text(try readText(count: count))
        case .array(let count):
            try checkDepth(depth, at: start)
            return try readArray(count: count, depth: depth + 1)
        case .map(let count):
            try checkDepth(depth, at: start)
            return try readMap(count: count, depth: depth + 1)
        case .tag(let tag):
            try checkDepth(depth, at: start)
            return .tagged(tag, try readValue(depth: depth + 1))
        case .simple(let simple): return .simple(simple)
        case .boolean(let flag): return .boolean(flag)
        case .null: return .null
        case .undefined: return .undefined
        case .float(let number): return .float(number)
        }
    }

    private mutating func readArray(count: Int?, depth: Int) throws(CBORError) -> CBORValue {
        var items: [CBORValue] = []
        items.reserveCapacity(min(count ?? 0, Self.reserveLimit))
        while !readEnd(count: count, read: items.count) { items.append(try readValue(depth: depth)) }
        return .array(items)
    }

    private mutating func readMap(count: Int?, depth: Int) throws(CBORError) -> CBORValue {
        var map = CBORMap()
        map.entries.reserveCapacity(min(count ?? 0, Self.reserveLimit))
        while !readEnd(count: count, read: map.count) {
            let key = try readValue(depth: depth)
            if count == nil { try expectValueAfterKey() }
            map.append(key: key, value: try readValue(depth: depth))
        }
        return .map(map)
    }

    /// Throws if a container can't be entered at `depth`, the number of containers around it.
    @inline(__always)
    func checkDepth(_ depth: Int, at start: Int) throws(CBORError) {
        guard depth < maximumDepth else {
            throw CBORError(offset: start, reason: .nestingTooDeep(limit: maximumDepth))
        }
    }

    /// Throws if an indefinite map ends where the value of its last key should be.
    @inline(__always)
    func expectValueAfterKey() throws(CBORError) {
        guard offset >= bytes.count || bytes[offset] != SimpleByte.break else {
            throw CBORError(offset: offset, reason: .keyWithoutValue)
        }
    }
}
