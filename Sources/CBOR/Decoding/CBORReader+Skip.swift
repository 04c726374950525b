extension CBORReader {
    /// Skips the next item with everything inside it and checks that it is well-formed. O(size); strings cost only their heads,
    /// unless `checkingText` also validates their UTF-8.
    public mutating func skipItem(checkingText: Bool = false) throws(CBORError) {
        try skipItem(depth: 0, checkingText: checkingText)
    }

    private mutating func skipItem(depth: Int, checkingText: Bool) throws(CBORError) {
        let start = offset
        let initial = try readInitialByte()
        let information = initial & 0x1f
        switch MajorType(of: initial) {
        case .unsigned, .negative:
            _ = try readArgument(information, of: start)
        case .bytes:
            try skipString(.bytes, count: try readCount(information, of: start), checkingText: false)
        case .text:
            try skipString(.text, count: try readCount(information, of: start), checkingText: checkingText)
        case .array:
            try checkDepth(depth, at: start)
            guard let count = try readCount(information, of: start) else {
                while !readBreak() { try skipItem(depth: depth + 1, checkingText: checkingText) }
                return
            }
            for _ in 0..<count { try skipItem(depth: depth + 1, checkingText: checkingText) }
        case .map:
            try checkDepth(depth, at: start)
            guard let count = try readCount(information, of: start, unit: 2) else {
                while !readBreak() {
                    try skipItem(depth: depth + 1, checkingText: checkingText)
                    try expectValueAfterKey()
                    try skipItem(depth: depth + 1, checkingText: checkingText)
                }
                return
            }
            for _ in 0..<2 * count { try skipItem(depth: depth + 1, checkingText: checkingText) }
        case .tag:
            try checkDepth(depth, at: start)
            _ = try readArgument(information, of: start)
            try skipItem(depth: depth + 1, checkingText: checkingText)
        case .simple:
            offset = start
            _ = try readHead()
        }
    }

    @inline(__always)
    private mutating func skipString(_ type: MajorType, count: Int?, checkingText: Bool) throws(CBORError) {
        guard let count else {
            while try readChunk(of: type, checkingText: checkingText) != nil {}
            return
        }
        if checkingText {
            _ = try readUTF8(count: count)
        } else {
            offset += count
        }
    }

    /// Moves from the start of a map to the value of the first entry with this text key. Reads only heads before it.
    ///
    /// - Returns: false, with the reader after the item, if it isn't a map or has no such entry. Ignores indefinite-length keys.
    public mutating func enterMap(atKey key: String) throws(CBORError) -> Bool {
        let start = offset
        guard case .map(let count) = try readHead() else {
            offset = start
            try skipItem()
            return false
        }
        var key = key
        key.makeContiguousUTF8()
        var left = count ?? .max
        while left > 0 {
            if count == nil, readBreak() { return false }
            if try readKey(equalTo: key) { return true }
            if count == nil { try expectValueAfterKey() }
            try skipItem(depth: 1, checkingText: false)
            left -= 1
        }
        return false
    }

    private mutating func readKey(equalTo key: String) throws(CBORError) -> Bool {
        let start = offset
        let initial = try readInitialByte()
        guard MajorType(of: initial) == .text, let count = try readCount(initial & 0x1f, of: start) else {
            offset = start
            try skipItem(depth: 1, checkingText: false)
            return false
        }
        let content = try readContent(count: count)
        return key.utf8.elementsEqual(content)
    }
}
