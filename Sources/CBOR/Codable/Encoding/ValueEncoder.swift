/// For one thread. Writes one value, and what is within it, at the end of one byte buffer.
///
/// The encoder is the same for a value and for all that the value holds: what belongs to the value whose `encode(to:)`
/// runs is its scope, which is set aside while a value within it is encoded. Containers know the number of their scope
/// and write only while it is the current one.
///
/// Containers that are opened explicitly (`nestedContainer`, `superEncoder`) may be filled in any order, so they have
/// encoders, and buffers, of their own: parts, which are put in their place when the scope ends.
final class ValueEncoder {
    /// What the containers of one value have written so far.
    struct Scope {
        enum Shape { case undecided, single, map, array }

        /// Never used twice by an encoder, and never 0.
        let number: Int
        /// Where the value begins: its head, in the case of a container.
        let start: Int
        let firstPart: Int
        let firstMark: Int
        /// The type of the value; nil for a part, which never is a collection of the standard library.
        var type: (any Any.Type)?
        var shape = Shape.undecided
        /// Items of an array, entries of a map, values of a single value container.
        var count = 0
        /// Items that are sorted as one: 0 where the order stays as it is, 1 for entries of maps and for sets, 2 for
        /// arrays of keys and values in turns.
        var sortedUnit = 0
        /// The signatures of a map's keys (``KeySignature``), and whether two of them met.
        var signatures: UInt128 = 0
        var mayRepeat = false
    }

    /// A container in a buffer of its own, and the place that it will have.
    struct Part {
        var place: Int
        let encoder: ValueEncoder
    }

    private let sendableUserInfo: [CodingUserInfoKey: any Sendable]
    private let maximumDepth: Int
    private(set) var depth: Int
    /// Not checked for exclusive access because that check takes longer than most writes. What writes runs no code of
    /// others, so no write ever begins within another.
    @exclusivity(unchecked) var writer = CBORWriter(capacity: 256)
    /// Changed and read one property at a time, for the same reason.
    @exclusivity(unchecked) var scope: Scope
    private var lastNumber = 1
    var parts: [Part] = []
    /// Where sorted units begin.
    var marks: [Int] = []
    var codingPath: [any CodingKey]
    var watcher: (any EncodingWatcher)?
    /// The first misuse, kept because not every call that can be wrong can throw.
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

    /// The whole encoding of the one value that this encoder is for.
    func encodeWhole<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        let isWritten = try writeNative(value)
        if !isWritten { try encodeInScope(value, isWhole: true) }
        if let misuse { throw misuse }
        return writer.bytes
    }

    /// Writes one item of a type that isn't written natively. After an error nothing of it is left.
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
            if isWhole, scope.shape == .undecided, misuse == nil { throw nothingEncoded(value) }
            try finishScope()
        } catch {
            removeAll(from: scope.start)
            parts.removeSubrange(scope.firstPart...)
            marks.removeSubrange(scope.firstMark...)
            throw error
        }
    }

    func removeAll(from place: Int) {
        writer.bytes.removeLast(writer.bytes.count - place)
    }

    /// An encoder for an item at this place, to be filled in any order with others.
    func openPart(_ key: some CodingKey) -> ValueEncoder {
        guard depth < maximumDepth else {
            report(tooDeep(()))
            return deadPart()
        }
        let child = ValueEncoder(
            userInfo: sendableUserInfo, maximumDepth: maximumDepth, depth: depth + 1,
            codingPath: codingPath + [key])
        child.watcher = watcher
        parts.append(Part(place: writer.bytes.count, encoder: child))
        return child
    }

    /// An encoder that writes nothing and belongs to nothing, so that an endless chain of parts is never followed.
    private func deadPart() -> ValueEncoder {
        let child = ValueEncoder(
            userInfo: sendableUserInfo, maximumDepth: maximumDepth, depth: depth, codingPath: codingPath)
        child.close()
        return child
    }

    /// What a part has written; its containers only throw from now on.
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

    func misused(_ value: Any, _ description: String) -> EncodingError {
        let error = EncodingError.invalidValue(
            value, .init(codingPath: codingPath, debugDescription: description))
        report(error)
        return error
    }

    private func tooDeep(_ value: Any) -> EncodingError {
        .invalidValue(
            value,
            .init(
                codingPath: codingPath,
                debugDescription: "More than \(maximumDepth) values are nested within each other."))
    }

    private func nothingEncoded<Value>(_ value: Value) -> EncodingError {
        .invalidValue(
            value,
            .init(codingPath: codingPath, debugDescription: "Top-level \(Value.self) did not encode a value.")
        )
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

    /// Begins the container of the scope, or goes on with it: a class and its superclass may share one. Returns the
    /// number of the scope, or 0, with which nothing can be written.
    private func open(_ shape: Scope.Shape) -> Int {
        if scope.shape == shape { return scope.number }
        guard scope.shape == .undecided else {
            report(misused((), "A value that is \(scope.shape) already can't also be \(shape)."))
            return 0
        }
        scope.shape = shape
        _ = writer.beginDeferred()
        return scope.number
    }
}
