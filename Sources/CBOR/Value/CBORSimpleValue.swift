/// A simple value to which no meaning is assigned (RFC 8949, section 3.3): 0...19 and 32...255. 20...23 are `false`, `true`,
/// `null` and `undefined`, which are cases of ``CBORValue``, and 24...31 can't be encoded.
public struct CBORSimpleValue: RawRepresentable, Sendable, Hashable {
    /// The number of the simple value.
    public let rawValue: UInt8

    /// Nil for 20...31.
    public init?(rawValue: UInt8) {
        guard rawValue < 20 || rawValue >= 32 else { return nil }
        self.rawValue = rawValue
    }
}
