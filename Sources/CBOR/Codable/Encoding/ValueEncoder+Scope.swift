extension ValueEncoder {
    /// Begins an entry of the scope's map: counts it and writes its key.
    @inline(__always)
    func beginEntry(_ name: String, in number: Int) throws {
        guard number == scope.number else { throw notCurrent() }
        if scope.sortedUnit > 0 { marks.append(writer.bytes.count) }
        scope.count += 1
        name.withRawUTF8 { content in
            let signature = KeySignature.bit(of: content)
            if scope.signatures & signature != 0 { scope.mayRepeat = true }
            scope.signatures |= signature
            writer.write(utf8: content)
        }
    }

    @inline(__always)
    func beginItem(in number: Int) throws {
        guard number == scope.number else { throw notCurrent() }
        if scope.sortedUnit > 0, scope.count % scope.sortedUnit == 0 { marks.append(writer.bytes.count) }
        scope.count += 1
    }

    /// Undoes the last entry or item, which began at `place`.
    func cancel(from place: Int) {
        removeAll(from: place)
        scope.count -= 1
        if marks.count > scope.firstMark, marks.last == place { marks.removeLast() }
    }

    @inline(__always)
    func beginSingle(in number: Int) throws {
        guard number == scope.number else { throw notCurrent() }
        guard scope.shape == .undecided else {
            throw misused("A single value container takes exactly one value.")
        }
        scope.shape = .single
    }

    /// Writes a value as the next item; `key` is its step in the coding path. Native types don't need the path.
    @inline(__always)
    func encode<Value: Encodable>(_ value: Value, under key: @autoclosure () -> any CodingKey) throws {
        if try writeNative(value) { return }
        codingPath.append(key())
        defer { codingPath.removeLast() }
        try encodeInScope(value)
    }

    private func notCurrent() -> EncodingError {
        misused("The container's value is complete, or another value is being encoded within it.")
    }

    // MARK: End of a scope

    /// Inserts the parts, sorts unordered elements and completes the container's head.
    func finishScope() throws {
        if parts.count > scope.firstPart { try insertParts() }
        switch scope.shape {
        case .undecided: writer.beginMap(count: 0)
        case .single: break
        case .array:
            if scope.sortedUnit > 0 { sortUnits() }
            writer.endDeferred(.array, at: scope.start, count: scope.count)
        case .map:
            if scope.mayRepeat { try checkForRepeatedKeys() }
            if scope.sortedUnit > 0 { sortUnits() }
            writer.endDeferred(.map, at: scope.start, count: scope.count)
        }
    }

    /// A sorted scope has no parts: only collections of the standard library are sorted, and they open none.
    private func insertParts() throws {
        let start = scope.start
        let content = Array(writer.bytes[start...])
        removeAll(from: start)
        var copied = 0
        for part in parts[scope.firstPart...] {
            writer.bytes.append(contentsOf: content[copied..<part.place - start])
            copied = part.place - start
            writer.bytes.append(contentsOf: try part.encoder.finishPart())
        }
        writer.bytes.append(contentsOf: content[copied...])
        parts.removeSubrange(scope.firstPart...)
    }

    /// No encoded item is a prefix of another, so comparing whole units orders them by their keys.
    private func sortUnits() {
        let starts = marks[scope.firstMark...]
        defer { marks.removeSubrange(scope.firstMark...) }
        guard let first = starts.first, starts.count > 1 else { return }
        let ends = starts.dropFirst() + [writer.bytes.count]
        let content = Array(writer.bytes[first...])
        let sorted = content.withUnsafeBytes { bytes in
            zip(starts, ends).map { $0 - first..<$1 - first }.sorted {
                UnsafeRawBufferPointer(rebasing: bytes[$0])
                    .lexicographicallyPrecedes(UnsafeRawBufferPointer(rebasing: bytes[$1]))
            }
        }
        removeAll(from: first)
        for range in sorted { writer.bytes.append(contentsOf: content[range]) }
    }

    /// Called if two keys have the same signature and so may be equal. O(entries).
    private func checkForRepeatedKeys() throws {
        let repeated = try writer.bytes.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes, maximumDepth: .max)
            // The head is one byte until the scope ends.
            reader.offset = scope.start + 1
            var names: [UnsafeRawBufferPointer] = []
            names.reserveCapacity(scope.count)
            for _ in 0..<scope.count {
                guard case .text(let count?) = try reader.readHead() else { break }
                names.append(try reader.readContent(count: count))
                try reader.skipItem()
            }
            return Self.firstRepeated(names).map { String(decoding: $0, as: UTF8.self) }
        }
        if let repeated { throw misused("The key \"\(repeated)\" is encoded twice.") }
    }

    private static func firstRepeated(_ names: [UnsafeRawBufferPointer]) -> UnsafeRawBufferPointer? {
        // Comparing a few names is faster than hashing them.
        if names.count <= 32 {
            return names.indices.first { place in
                names[..<place].contains { $0.hasSameBytes(as: names[place]) }
            }.map { names[$0] }
        }
        var seen = Set<[UInt8]>(minimumCapacity: names.count)
        return names.first { !seen.insert(Array($0)).inserted }
    }
}
