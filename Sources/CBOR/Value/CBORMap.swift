/// Sendable value type; safe to use from any thread. The entries of a CBOR map in the order in which they were written.
///
/// Keys may be of any kind and may occur more than once: nothing that an input held is lost. Two maps are equal when
/// they hold equal entries in the same order. A look-up walks the entries, O(count), and finds the first.
public struct CBORMap: Sendable, Hashable {
    /// One key and its value.
    public struct Entry: Sendable, Hashable {
        public var key: CBORValue
        public var value: CBORValue

        public init(key: CBORValue, value: CBORValue) {
            self.key = key
            self.value = value
        }
    }

    public var entries: [Entry]

    public init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    /// The value of the first entry with this key, or nil.
    ///
    /// Setting replaces the value of the first entry with the key, in its place; a new key goes to the end; setting
    /// nil removes every entry with the key.
    public subscript(key key: CBORValue) -> CBORValue? {
        get { entries.first { $0.key == key }?.value }
        set {
            guard let newValue else {
                entries.removeAll { $0.key == key }
                return
            }
            if let place = entries.firstIndex(where: { $0.key == key }) {
                entries[place].value = newValue
            } else {
                entries.append(Entry(key: key, value: newValue))
            }
        }
    }

    /// Adds an entry at the end, whether or not its key is there already.
    public mutating func append(key: CBORValue, value: CBORValue) {
        entries.append(Entry(key: key, value: value))
    }
}

extension CBORMap: RandomAccessCollection {
    public var startIndex: Int { entries.startIndex }
    public var endIndex: Int { entries.endIndex }

    public subscript(position: Int) -> Entry { entries[position] }
}

extension CBORMap: ExpressibleByDictionaryLiteral {
    /// Keeps the order of the literal, duplicates included.
    public init(dictionaryLiteral elements: (CBORValue, CBORValue)...) {
        self.init(elements.map { Entry(key: $0.0, value: $0.1) })
    }
}
