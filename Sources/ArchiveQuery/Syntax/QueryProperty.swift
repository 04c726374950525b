import StorageEngine

/// A property of a row: a part of its value, metadata, or a calculation with them.
public indirect enum QueryProperty: Sendable, Hashable {
    /// The path from the value to the part, such as `address.city`, `tags[0]` or `items[].price`. Begins with a name.
    case path([Step])
    /// Metadata of the entry, such as `@size`.
    case metadata(QueryMetadata)
    /// A calculation, such as `price * amount` or `@accessed - @created`. Both sides must be numbers, or dates as allowed by
    /// ``QueryOperator``; otherwise absent in columns, and unknown in conditions.
    case computed(QueryOperand, QueryOperator, QueryOperand)
    /// A property as another kind, such as `number(size)`. A failed conversion is absent in columns, and unknown in
    /// conditions.
    case converted(QueryConversion, QueryProperty)

    /// One step of a path. Names are compared by bytes.
    public enum Step: Sendable, Hashable {
        /// The value of a map's first entry with this text key.
        case name(String)
        /// The element of an array, from 0.
        case index(Int)
        /// All elements of an array. The rest of the path is absent in an element without it.
        case each

        public static func == (left: Step, right: Step) -> Bool {
            switch (left, right) {
            case (.name(let one), .name(let other)): ExactText(one) == ExactText(other)
            case (.index(let one), .index(let other)): one == other
            case (.each, .each): true
            default: false
            }
        }

        public func hash(into hasher: inout Hasher) {
            switch self {
            case .name(let name): hasher.combine(ExactText(name))
            case .index(let index): hasher.combine(index)
            case .each: hasher.combine(-1)
            }
        }
    }

    /// The path to a property at the top level of the value.
    public static func named(_ name: String) -> QueryProperty { .path([.name(name)]) }

    /// The paths and metadata that it uses.
    var sources: [QueryProperty] {
        switch self {
        case .computed(let left, _, let right): left.sources + right.sources
        case .converted(_, let property): property.sources
        case .path, .metadata: [self]
        }
    }

    package var isMetadata: Bool { if case .metadata = self { true } else { false } }
}

/// One side of a calculation.
public enum QueryOperand: Sendable, Hashable {
    /// A property, or another calculation.
    case property(QueryProperty)
    /// A number, duration, size or date.
    case value(QueryLiteral)

    var sources: [QueryProperty] { if case .property(let property) = self { property.sources } else { [] } }
}

/// A conversion of a value to another kind, impossible for lists, maps, bytes and other kinds.
public enum QueryConversion: String, Sendable, Hashable, CaseIterable {
    /// A text in JSON's number grammar; 1 and 0 for true and false; the seconds since 1970 of a date.
    case number
    /// A text that is a date.
    case date
    /// The text of a number in JSON's grammar, of `true` and `false`, and of a date in ISO 8601.
    case text
    /// The texts `true` and `false`, and the numbers 1 and 0.
    case bool
}

/// An operator of calculations. The result for two integers is an integer if it is one of 64 bits, otherwise floating point: 7
/// / 2 is 3.5. A division by zero is absent. A date plus or minus seconds is a date; a date minus a date is seconds.
public enum QueryOperator: String, Sendable, Hashable, CaseIterable {
    /// Addition.
    case plus = "+"
    /// Subtraction.
    case minus = "-"
    /// Multiplication.
    case times = "*"
    /// Division.
    case dividedBy = "/"

    /// Whether it binds more tightly than `+` and `-`.
    var isProduct: Bool { self == .times || self == .dividedBy }
}

/// The metadata of an entry that queries can use.
public enum QueryMetadata: String, Sendable, Hashable, CaseIterable {
    /// The entry's key, a text.
    case key
    /// Size of the encoded value, in bytes.
    case size
    /// When the entry was first recorded, a date.
    case created
    /// When it was last recorded or accessed, a date.
    case accessed
    /// Seconds since the entry was last recorded or accessed.
    case idle
    /// Seconds since it was first recorded.
    case age
    /// Seconds until it expires; absent if it never does.
    case ttl
    /// When it expires, a date; absent if it never does.
    case expires
    /// Accesses since it was recorded.
    case hits
    /// `"disk"`, `"memory"` or `"both"`.
    case tier
    /// The entry's owner, a text; absent without one.
    case owner
    /// Place in recency order; 1 is the most recent.
    case rank
    /// The type of a server's key, such as `"hash"`; absent in a store.
    case type
    /// The encoding of a value, such as `"cbor"`, or a server's, such as `"listpack"`; absent if unknown.
    case encoding
}
