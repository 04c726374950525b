/// Sendable value type; safe to use from any thread. A property of a row: a part of its value, or metadata.
public enum QueryProperty: Sendable, Hashable {
    /// The path from the value to the part, such as `address.city` or `tags[0]`. At least one step.
    case path([Step])
    /// Metadata of the entry, such as `@size`.
    case metadata(QueryMetadata)

    /// One step of a path.
    public enum Step: Sendable, Hashable {
        /// The value of a map's first entry with this text key.
        case name(String)
        /// The element of an array, from 0 on.
        case index(Int)
    }

    /// The path to a property at the top level of the value.
    public static func named(_ name: String) -> QueryProperty { .path([.name(name)]) }
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
}
