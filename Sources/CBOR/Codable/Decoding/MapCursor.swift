/// Finds the entries of a map by key, in a single pass if keys are requested in the order of the map. The first of equal keys
/// counts, so the signatures of all keys before the cursor must exclude it. Otherwise it searches linearly, and later uses a table.
struct MapCursor {
    /// Entries; nil for an indefinite length.
    let count: Int?
    private let first: Int
    /// Offset of the key to compare next.
    private var offset: Int
    private var index = 0
    /// Index and key signature of the entry that was found last.
    private var foundIndex = 0
    private var foundSignature: UInt128 = 0
    /// The signatures of all keys before the cursor, or of all keys once the end of the map was reached.
    private var signatures: UInt128 = 0
    private var isSeen = false
    /// Keys that searches have skipped so far.
    private var steps = 0
    private var table: KeyTable?
    /// The decoder of the value at the cursor, which determines the end of that value.
    private var pending: ValueDecoder?

    /// Skipping this many keys takes about as long as building a table of a few dozen.
    private static let stepsBeforeTable = 1024

    /// `first`: the offset after the map's head.
    init(count: Int?, first: Int) {
        self.count = count
        self.first = first
        offset = first
    }

    // MARK: Finding

    /// Offset of the value for this key, if the key is the map's next one. `reader` is any reader of the input.
    @inline(__always)
    mutating func next(_ name: UnsafeRawBufferPointer, _ reader: CBORReader) -> Int? {
        guard pending == nil, index != count, reader.hasShortText(name, at: offset) else { return nil }
        let signature = KeySignature.bit(of: name)
        if let table {
            guard table.isUnique else { return nil }
        } else if signatures & signature != 0 {
            return nil
        }
        foundIndex = index
        foundSignature = signature
        return offset + 1 + name.count
    }

    /// Offset of the value for this key; nil if the map lacks it.
    @inline(never)
    mutating func search(
        _ name: UnsafeRawBufferPointer, number: Int?, _ reader: CBORReader
    ) throws(ReadFault) -> Int? {
        try finishPendingValue()
        let signature = KeySignature.bit(of: name)
        if table == nil, steps > Self.stepsBeforeTable {
            table = try KeyTable(count: count, first: first, reader)
        }
        // After the call the input is empty, and the table's keys are invalid.
        if let table, !reader.bytes.isEmpty {
            guard let entry = table.entry(name, number: number) else { return nil }
            found(entry, signature)
            return entry.value
        }
        let mayBeBefore = signatures & signature != 0
        if isSeen, !mayBeBefore { return nil }
        return try walk(name, number: number, reader, fromFirst: mayBeBefore, signature)
    }

    private mutating func walk(
        _ name: UnsafeRawBufferPointer, number: Int?, _ start: CBORReader, fromFirst: Bool,
        _ signature: UInt128
    ) throws(ReadFault) -> Int? {
        var reader = start
        reader.offset = fromFirst ? first : offset
        var place = fromFirst ? 0 : index
        while !reader.readEnd(count: count, read: place) {
            let keyOffset = reader.offset
            let key = try reader.readMapKey()
            if key.isEqual(to: name, number: number) {
                found(.init(key: keyOffset, value: reader.offset, index: place), signature)
                return reader.offset
            }
            signatures |= key.signature
            try reader.skipValue(isIndefinite: count == nil)
            place += 1
            steps += 1
        }
        isSeen = true
        return nil
    }

    private mutating func found(_ entry: KeyTable.Entry, _ signature: UInt128) {
        offset = entry.key
        index = entry.index
        foundIndex = entry.index
        foundSignature = signature
    }

    mutating func keys(_ reader: CBORReader) throws(ReadFault) -> [MapKey] {
        try finishPendingValue()
        if table == nil || reader.bytes.isEmpty {
            table = try KeyTable(count: count, first: first, reader)
        }
        return table?.keys ?? []
    }

    // MARK: Advancing

    /// Advances past the entry that was found, whose value ends at `end`.
    @inline(__always)
    mutating func advance(to end: Int) {
        offset = end
        index = foundIndex + 1
        signatures |= foundSignature
    }

    /// Leaves the value that was found to `decoder`, which may read it later.
    mutating func wait(for decoder: ValueDecoder) { pending = decoder }

    private mutating func finishPendingValue() throws(ReadFault) {
        guard let decoder = pending else { return }
        pending = nil
        let end = try decoder.endOrFault()
        advance(to: end)
    }

    mutating func end(of start: CBORReader) throws(ReadFault) -> Int {
        try finishPendingValue()
        var reader = start
        reader.offset = offset
        var place = index
        while !reader.readEnd(count: count, read: place) {
            try reader.checked { reader throws(CBORError) in try reader.skipItem() }
            try reader.skipValue(isIndefinite: count == nil)
            place += 1
        }
        return reader.offset
    }
}
