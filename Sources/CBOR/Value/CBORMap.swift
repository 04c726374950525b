/// The entries of a CBOR map in the order in which they were written.
///
/// Keys may be of any kind and may repeat, so decoding loses nothing. Two maps are equal if they have equal entries in the same
/// order. A look-up searches linearly, O(count), and finds the first match.
public struct CBORMap: Sendable, Hashable {
    /// One key and its value.
    public struct Entry: Sendable, Hashable {
        /// The key, of any kind.
        public var key: CBORValue
        /// The entry's value.
        public var value: CBORValue

        /// Creates an entry.
        public init(key: CBORValue, value: CBORValue) {
            self.key = key
            self.value = value
        }
    }

    /// All entries in order, repeated keys included.
    public var entries: [Entry]

    /// Creates a map with these entries, in this order.
    public init(_ entries: [Entry] = []) { self.entries = entries }

    /// The value of the first entry with this key, or nil. Setting a value replaces that of the first entry with this key, or
    /// appends a new entry. Setting nil removes every entry with this key. O(count).
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

    /// Appends an entry, even if the map already has its key.
    public mutating func append(key: CBORValue, value: CBORValue) {
        entries.append(Entry(key: key, value: value))
    }
}

extension CBORMap: RandomAccessCollection {
    /// Always 0.
    public var startIndex: Int { entries.startIndex }
    /// The number of entries.
    public var endIndex: Int { entries.endIndex }

    /// The entry at a position from 0 up to `endIndex`.
    public subscript(position: Int) -> Entry { entries[position] }
}

extension CBORMap: ExpressibleByDictionaryLiteral {
    /// Keeps the order of the literal, duplicates included.
    public init(dictionaryLiteral elements: (CBORValue, CBORValue)...) {
        self.init(elements.map { Entry(key: $0.0, value: $0.1) })
    }
}
