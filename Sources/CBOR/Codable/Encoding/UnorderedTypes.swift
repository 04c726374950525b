/// Collections whose elements have no defined order.
private protocol Unordered {
    /// How many items of the encoded array belong together, if the collection is encoded as an array.
    static var unit: Int { get }
}

extension Set: Unordered {
    fileprivate static var unit: Int { 1 }
}

extension Dictionary: Unordered {
    fileprivate static var unit: Int { 2 }
}

/// Recognizes the types whose encoded items must be sorted.
struct UnorderedTypes {
    /// The last type that turned out to be ordered: arrays of the same type often follow each other.
    private var ordered: (any Any.Type)?

    /// How many items form a unit of the sort; 0 for ordered types.
    mutating func unit(of type: any Any.Type) -> Int {
        if type == ordered { return 0 }
        if let unordered = type as? any Unordered.Type { return unordered.unit }
        ordered = type
        return 0
    }
}

/// The standard library's key type of dictionaries, which isn't public: encoding an empty dictionary reveals it.
enum DictionaryKey {
    private static let type: (any Any.Type)? = {
        let probe = KeyProbe()
        try? [String: Bool]().encode(to: probe)
        return probe.type
    }()

    @inline(__always)
    static func matches(_ candidate: any Any.Type) -> Bool { candidate == type }
}

/// Records the key type of the container that is requested from it.
private final class KeyProbe: Encoder {
    var type: (any Any.Type)?
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let encoder = ValueEncoder(userInfo: [:], maximumDepth: 1)

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        self.type = type
        return KeyedEncodingContainer(KeyedWriter<Key>(encoder: encoder, number: 0))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }

    func singleValueContainer() -> any SingleValueEncodingContainer { encoder.singleValueContainer() }
}
