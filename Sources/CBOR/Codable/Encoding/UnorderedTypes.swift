/// Collections whose elements have no order of their own.
private protocol Unordered {
    /// Items of the encoded array that belong together, if it is encoded as one.
    static var unit: Int { get }
}

extension Set: Unordered {
    fileprivate static var unit: Int { 1 }
}

extension Dictionary: Unordered {
    fileprivate static var unit: Int { 2 }
}

/// Tells the types whose encoded items must be sorted.
struct UnorderedTypes {
    /// The last type that was found to be no such collection: the answer costs more than many an array's encoding, and
    /// arrays of one type often come one after the other.
    private var ordered: (any Any.Type)?

    /// The sorted unit of the type's array; 0 for types with an order.
    mutating func unit(of type: any Any.Type) -> Int {
        if type == ordered { return 0 }
        if let unordered = type as? any Unordered.Type { return unordered.unit }
        ordered = type
        return 0
    }
}

/// The type of key under which the standard library encodes the entries of dictionaries. It has no public name, so an
/// empty dictionary is asked for it, once.
enum DictionaryKey {
    private static let type: (any Any.Type)? = {
        let probe = KeyProbe()
        try? [String: Bool]().encode(to: probe)
        return probe.type
    }()

    @inline(__always)
    static func matches(_ candidate: any Any.Type) -> Bool { candidate == type }
}

/// Notes the type of the keys that it is asked for.
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
