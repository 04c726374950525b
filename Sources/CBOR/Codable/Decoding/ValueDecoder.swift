/// The input of one call, shared by all of its decoders. Not thread-safe.
final class DecodingSource {
    /// The input; empty once the call is over.
    private(set) var bytes: UnsafeRawBufferPointer
    let maximumDepth: Int
    let userInfo: [CodingUserInfoKey: any Sendable]
    /// An instance of a class was requested.
    var sawReference = false

    init(
        _ bytes: UnsafeRawBufferPointer, userInfo: [CodingUserInfoKey: any Sendable], maximumDepth: Int
    ) {
        self.bytes = bytes
        self.userInfo = userInfo
        self.maximumDepth = maximumDepth
    }

    func close() { bytes = UnsafeRawBufferPointer(start: nil, count: 0) }

    /// A reader positioned at `offset`. Only readers access the input, and they check its bounds.
    @inline(__always)
    func reader(at offset: Int) -> CBORReader {
        CBORReader(bytes, at: offset, maximumDepth: maximumDepth)
    }
}

/// Decodes one item; remembers its container's position, so ordered requests read nothing twice. Not thread-safe.
final class ValueDecoder {
    /// The coding path step from the parent to this item.
    enum Step {
        case same
        case index(Int)
        case key(any CodingKey)

        var key: (any CodingKey)? {
            switch self {
            case .same: nil
            case .index(let index): IndexKey(index)
            case .key(let key): key
            }
        }
    }

    let source: DecodingSource
    /// Where the item begins, with its tags.
    let start: Int
    private let parent: ValueDecoder?
    private let step: Step
    private let depth: Int
    private var knownEnd: Int?
    /// Cursors over the item's entries or elements, once a container was requested. Checks for exclusive access would take
    /// longer than most reads, and no foreign code runs while a cursor changes.
    @exclusivity(unchecked) var map: MapCursor?
    @exclusivity(unchecked) var array: ArrayCursor?

    init(source: DecodingSource) {
        self.source = source
        start = 0
        parent = nil
        step = .same
        depth = 0
    }

    /// Throws if the item is nested too deeply.
    private init(at offset: Int, _ step: Step, within parent: ValueDecoder) throws {
        source = parent.source
        start = offset
        self.parent = parent
        self.step = step
        depth = parent.depth + 1
        guard depth <= source.maximumDepth else {
            let reason = CBORError.Reason.nestingTooDeep(limit: source.maximumDepth)
            throw parent.error(.malformed(CBORError(offset: offset, reason: reason)), step)
        }
    }

    func child(at offset: Int, _ step: Step) throws -> ValueDecoder {
        try ValueDecoder(at: offset, step, within: self)
    }

    @inline(__always)
    func reader(at offset: Int) -> CBORReader { source.reader(at: offset) }

    // MARK: Values

    /// Decodes the item at `offset` and moves `offset` past it.
    func decode<Value: Decodable>(
        _ type: Value.Type, at offset: inout Int, _ step: @autoclosure () -> Step
    ) throws -> Value {
        var reader = reader(at: offset)
        do throws(ReadFault) {
            let value = try reader.decodeNative(type)
            offset = reader.offset
            return value
        } catch {
            guard case .notNative = error else { throw self.error(error, step()) }
        }
        if Value.self is AnyObject.Type { source.sawReference = true }
        let child = try child(at: offset, step())
        let value = try Value(from: child)
        offset = try child.end()
        return value
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        var end = start
        let value = try decode(type, at: &end, .same)
        knownEnd = end
        return value
    }

    @inline(__always)
    func scalar<Value>(_ read: (inout CBORReader) throws(ReadFault) -> Value) throws -> Value {
        var reader = reader(at: start)
        do throws(ReadFault) {
            let value = try read(&reader)
            knownEnd = reader.offset
            return value
        } catch {
            throw self.error(error, .same)
        }
    }

    // MARK: The item's end

    func end() throws -> Int {
        do throws(ReadFault) { return try endOrFault() } catch { throw self.error(error, .same) }
    }

    /// The offset after the item. Skips only unread parts.
    func endOrFault() throws(ReadFault) -> Int {
        if let knownEnd { return knownEnd }
        var reader = reader(at: start)
        if map != nil {
            reader.offset = try map?.end(of: reader) ?? start
        } else if let array {
            reader.offset = try array.end(of: reader)
        } else {
            try reader.checked { reader throws(CBORError) in try reader.skipItem() }
        }
        knownEnd = reader.offset
        return reader.offset
    }

    func expectEnd() throws {
        var reader = reader(at: try end())
        do throws(ReadFault) {
            try reader.checked { reader throws(CBORError) in try reader.expectEnd() }
        } catch {
            throw self.error(error, .same)
        }
    }

    // MARK: Errors

    func error(_ fault: ReadFault, _ step: Step) -> DecodingError {
        fault.decodingError(at: path(step))
    }

    func path(_ step: Step) -> [any CodingKey] { codingPath + [step.key].compactMap { $0 } }
}

extension ValueDecoder: Decoder {
    var codingPath: [any CodingKey] {
        var steps: [any CodingKey] = []
        var decoder: ValueDecoder? = self
        while let current = decoder {
            if let key = current.step.key { steps.append(key) }
            decoder = current.parent
        }
        return steps.reversed()
    }

    var userInfo: [CodingUserInfoKey: Any] { source.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if map == nil { try openMap() }
        return KeyedDecodingContainer(KeyedReader<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        UnkeyedReader(decoder: self, cursor: try openArray())
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleValueReader(decoder: self) }
}

extension ValueDecoder {
    private func openMap() throws {
        map = try scalar { reader throws(ReadFault) in
            guard let count = try reader.open(.map) else { throw try reader.mismatch([String: Any].self) }
            return MapCursor(count: count, first: reader.offset)
        }
        knownEnd = nil
    }

    private func openArray() throws -> ArrayCursor {
        let cursor = try scalar { reader throws(ReadFault) in
            guard let count = try reader.open(.array) else { throw try reader.mismatch([Any].self) }
            return ArrayCursor(count: count, offset: reader.offset)
        }
        knownEnd = nil
        if array == nil { array = cursor }
        return cursor
    }

    @inline(never)
    func search(_ name: inout String, _ key: some CodingKey) throws -> Int? {
        let reader = reader(at: 0)
        let number = key.intValue
        do throws(ReadFault) {
            return try name.withRawUTF8 { bytes throws(ReadFault) in
                try map?.search(bytes, number: number, reader)
            }
        } catch {
            throw self.error(error, .same)
        }
    }

    func isNull() -> Bool {
        var reader = reader(at: start)
        guard (try? reader.readNull()) == true else { return false }
        knownEnd = reader.offset
        return true
    }
}

extension String {
    /// `withUTF8` with a typed error, which the standard library's declaration lacks.
    @inline(__always)
    fileprivate mutating func withRawUTF8<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome = withUTF8 { bytes in
            do throws(Failure) {
                return Swift.Result<Result, Failure>.success(try body(UnsafeRawBufferPointer(bytes)))
            } catch {
                return Swift.Result<Result, Failure>.failure(error)
            }
        }
        return try outcome.get()
    }
}
