/// Sendable value type; safe to use from any thread. Something that a row has: a part of its value, or metadata.
public enum QueryProperty: Sendable, Hashable {
    /// The way from the value to the part: `address.city`, `tags[0]`. At least one step.
    case path([Step])
    case metadata(QueryMetadata)

    public enum Step: Sendable, Hashable {
        /// The value of a map's first entry with this text as key.
        case name(String)
        /// The element of an array, from 0 on.
        case index(Int)
    }

    /// A property of the value itself.
    public static func named(_ name: String) -> QueryProperty { .path([.name(name)]) }
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
