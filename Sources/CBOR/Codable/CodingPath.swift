struct IndexKey: CodingKey {
    let index: Int

    init(_ index: Int) { self.index = index }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { index = intValue }

    var stringValue: String { "Index \(index)" }
    var intValue: Int? { index }
}

/// The key of a superclass's data inside its subclass's map (`superEncoder()`, `superDecoder()`).
struct SuperKey: CodingKey {
    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }

    var stringValue: String { "super" }
    var intValue: Int? { nil }
}

/// `value` as `Target` if its type is exactly that, which makes the bit cast safe. A dynamic cast is much slower.
@inline(__always)
func exactly<Source, Target>(_ value: Source, _: Target.Type) -> Target? {
    Source.self == Target.self ? unsafeBitCast(value, to: Target.self) : nil
}

/// `value` as `Target`, for callers that have just compared the two types.
@inline(__always)
func same<Source, Target>(_ value: Source) -> Target {
    precondition(Source.self == Target.self)
    return unsafeBitCast(value, to: Target.self)
}
