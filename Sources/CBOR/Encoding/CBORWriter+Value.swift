extension CBORWriter {
    /// Writes a value with everything inside it. O(size). The stack grows with the nesting, which is not limited here.
    public mutating func write(_ value: CBORValue) {
        switch value {
        case .unsigned(let number): write(unsigned: number)
        case .negative(let number): write(negative: number)
        case .bytes(let content): write(bytes: content)
        case .text(let text): write(text)
        case .array(let items): write(items)
        case .map(let map): write(map)
        case .tagged(let tag, let content):
            write(tag: tag)
            write(content)
        case .simple(let simple): write(simple)
        case .boolean(let flag): write(flag)
        case .null: writeNull()
        case .undefined: writeUndefined()
        case .float(let number): write(number)
        }
    }

    private mutating func write(_ items: [CBORValue]) {
        beginArray(count: items.count)
        for item in items { write(item) }
    }

    private mutating func write(_ map: CBORMap) {
        beginMap(count: map.entries.count)
        for entry in map.entries {
            write(entry.key)
            write(entry.value)
        }
    }
}

extension CBORValue {
    /// The value encoded in preferred serialization. O(size).
    public var encoded: [UInt8] {
        var writer = CBORWriter()
        writer.write(self)
        return writer.bytes
    }
}
