/// Sendable value type; safe to use from any thread. Something that a row has: a part of its value, metadata, or what is
/// calculated from them.
public indirect enum QueryProperty: Sendable, Hashable {
    /// The way from the value to the part: `address.city`, `tags[0]`, `items[].price`. At least one step, a name first.
    case path([Step])
    case metadata(QueryMetadata)
    /// `price * amount`, `@accessed - @created`; absent unless both sides are numbers, or dates where that makes sense.
    case computed(QueryOperand, QueryOperator, QueryOperand)

    public enum Step: Sendable, Hashable {
        /// The value of a map's first entry with this text as key.
        case name(String)
        /// The element of an array, from 0 on.
        case index(Int)
        /// All elements of an array.
        case each
    }

    /// A property of the value itself.
    public static func named(_ name: String) -> QueryProperty { .path([.name(name)]) }

    /// The parts of values and the metadata that it is made of.
    var sources: [QueryProperty] {
        guard case .computed(let left, _, let right) = self else { return [self] }
        return left.sources + right.sources
    }
}

/// A side of a calculation.
public enum QueryOperand: Sendable, Hashable {
    case property(QueryProperty)
    /// A number, duration, size or date.
    case value(QueryLiteral)

    var sources: [QueryProperty] { if case .property(let property) = self { property.sources } else { [] } }
}

/// What is done with two numbers. Of integers of 64 bits the result is an integer where it is one of 64 bits, else
/// floating point: 7 / 2 is 3.5. A division by zero is absent.
///
/// A date and a number of seconds make a date, and two dates with a minus a number of seconds.
public enum QueryOperator: String, Sendable, Hashable, CaseIterable {
    case plus = "+"
    case minus = "-"
    case times = "*"
    case dividedBy = "/"

    /// Whether it binds closer than `+` and `-`.
    var isProduct: Bool { self == .times || self == .dividedBy }
}

/// What a store knows of an entry besides its value.
public enum QueryMetadata: String, Sendable, Hashable, CaseIterable {
    /// Text.
    case key
    /// Bytes of the encoded value.
    case size
    /// When the entry was first recorded, a date.
    case created
    /// When it was last recorded or accessed, a date.
    case accessed
    /// Seconds since then.
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
    /// Text; absent without one.
    case owner
    /// Place in recency order; 1 is the most recent.
    case rank
}
