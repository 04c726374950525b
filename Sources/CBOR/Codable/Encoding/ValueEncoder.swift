/// Writes one value, with everything inside it, to the end of a byte buffer that all nested values share. Not thread-safe. The
/// state of the value whose `encode(to:)` runs is its scope, saved while a nested value is encoded. Containers write only while
/// their scope is current. Explicit containers (`nestedContainer`, `superEncoder`) may be filled in any order: each has its own
/// encoder and buffer, inserted when the scope ends.
final class ValueEncoder {
    /// The state of the containers of a value.
    struct Scope {
        enum Shape { case undecided, single, map, array }

        /// Unique in its encoder and never 0.
        let number: Int
        let start: Int
        let firstPart: Int
        let firstMark: Int
        /// The type of the value; nil for a part, which is never a collection of the standard library.
        var type: (any Any.Type)?
        var shape = Shape.undecided
        /// Items of an array, entries of a map, values of a single value container.
        var count = 0
        /// Items in a unit of the sort: 0 for no sorting, 1 for map entries and sets, 2 for alternating keys and values.
        var sortedUnit = 0
        /// The signatures of a map's keys (``KeySignature``), and whether two were equal.
        var signatures: UInt128 = 0
        var mayRepeat = false
    }

    /// A container with its own buffer, and the offset where it will be inserted.
    struct Part {
        var place: Int
        let encoder: ValueEncoder
    }

    private let sendableUserInfo: [CodingUserInfoKey: any Sendable]
    private let maximumDepth: Int
    private(set) var depth: Int
    /// The output. Checks for exclusive access would take longer than most writes, and writing runs no foreign code.
    @exclusivity(unchecked) var writer = CBORWriter(capacity: 256)
    /// The current scope. Unchecked like ``writer``; accessed one property at a time.
    @exclusivity(unchecked) var scope: Scope
    private var lastNumber = 1
    var parts: [Part] = []
    /// Offsets of the units to sort.
    var marks: [Int] = []
    var codingPath: [any CodingKey]
    var watcher: (any EncodingWatcher)?
    /// The first misuse. Stored, because some calls that detect one can't throw.
    private(set) var misuse: EncodingError?
    private var unordered = UnorderedTypes()

    init(
        userInfo: [CodingUserInfoKey: any Sendable], maximumDepth: Int, depth: Int = 0,
        codingPath: [any CodingKey] = []
    ) {
        sendableUserInfo = userInfo
        self.maximumDepth = maximumDepth
        self.depth = depth
        self.codingPath = codingPath
        scope = Scope(number: 1, start: 0, firstPart: 0, firstMark: 0)
    }

    var userInfo: [CodingUserInfoKey: Any] { sendableUserInfo }

    func encodeWhole<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        let isWritten = try writeNative(value)
        if !isWritten { try encodeInScope(value, isWhole: true) }
        if let misuse { throw misuse }
        return writer.bytes
    }

    /// Writes a value without a native form as one item. On an error it removes what it wrote.
    func encodeInScope<Value: Encodable>(_ value: Value, isWhole: Bool = false) throws {
        guard depth < maximumDepth else { throw tooDeep(value) }
        watcher?.willEncode(value, at: codingPath)
        let outer = scope
        lastNumber += 1
        scope = Scope(
            number: lastNumber, start: writer.bytes.count, firstPart: parts.count, firstMark: marks.count,
            type: Value.self)
        depth += 1
        defer {
            depth -= 1
            scope = outer
        }
        do {
            try value.encode(to: self)
            if isWhole, scope.shape == .undecided, misuse == nil {
                throw invalid(value, "Top-level \(Value.self) did not encode a value.")
            }
            try finishScope()
        } catch {
            removeAll(from: scope.start)
            parts.removeSubrange(scope.firstPart...)
            marks.removeSubrange(scope.firstMark...)
            throw error
        }
    }

    func removeAll(from place: Int) { writer.bytes.removeLast(writer.bytes.count - place) }

    /// An encoder for an item at this offset that may be filled at any time before the scope ends.
    func openPart(_ key: some CodingKey) -> ValueEncoder {
        let child = ValueEncoder(
            userInfo: sendableUserInfo, maximumDepth: maximumDepth, depth: depth + 1,
            codingPath: codingPath + [key])
        guard depth < maximumDepth else {
            // A closed encoder, whose output is discarded: it rejects further parts, so an endless chain of nested parts ends.
            report(tooDeep(()))
            child.close()
            return child
        }
        child.watcher = watcher
        parts.append(Part(place: writer.bytes.count, encoder: child))
        return child
    }

    /// Ends a part and returns its bytes. Its containers throw from now on.
    func finishPart() throws -> [UInt8] {
        try finishScope()
        close()
        if let misuse { throw misuse }
        return writer.bytes
    }

    private func close() {
        lastNumber += 1
        scope = Scope(number: lastNumber, start: writer.bytes.count, firstPart: 0, firstMark: 0)
        scope.shape = .single
        scope.count = 1
    }

    // MARK: Errors

    func report(_ error: EncodingError) {
        if misuse == nil { misuse = error }
    }

    func misused(_ description: String) -> EncodingError {
        let error = invalid((), description)
        report(error)
        return error
    }

    private func tooDeep(_ value: Any) -> EncodingError {
        invalid(value, "More than \(maximumDepth) values are nested within each other.")
    }

    private func invalid(_ value: Any, _ description: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: codingPath, debugDescription: description))
    }
}

extension ValueEncoder: Encoder {
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let number = open(.map)
        if DictionaryKey.matches(type) { scope.sortedUnit = 1 }
        return KeyedEncodingContainer(KeyedWriter<Key>(encoder: self, number: number))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        let isNew = scope.shape == .undecided
        let number = open(.array)
        if isNew, let type = scope.type { scope.sortedUnit = unordered.unit(of: type) }
        return UnkeyedWriter(encoder: self, number: number)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValueWriter(encoder: self, number: scope.number)
    }

    /// Begins or continues the scope's container, shared with a superclass; returns its number, or 0 if it can't be written.
    private func open(_ shape: Scope.Shape) -> Int {
        if scope.shape == shape { return scope.number }
        guard scope.shape == .undecided else {
            _ = misused("A value that was begun as \(scope.shape) can't continue as \(shape).")
            return 0
        }
        scope.shape = shape
        _ = writer.beginDeferred()
        return scope.number
    }
}
