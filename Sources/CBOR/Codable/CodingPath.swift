/// A place in an array as a step of a coding path.
struct IndexKey: CodingKey {
    let index: Int

    init(_ index: Int) { self.index = index }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { index = intValue }

    var stringValue: String { "Index \(index)" }
    var intValue: Int? { index }
}

/// The key under which a class' own data stand beside its subclass' (`superEncoder()`, `superDecoder()`).
struct SuperKey: CodingKey {
    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }

    var stringValue: String { "super" }
    var intValue: Int? { nil }
}

/// `value` as `Target` if that is its very type. Such a comparison costs a nanosecond and a dynamic cast dozens, several
/// times what there is to write; hence the bit cast, which is safe because both types are the same one.
@inline(__always)
func exactly<Source, Target>(_ value: Source, _: Target.Type) -> Target? {
    Source.self == Target.self ? unsafeBitCast(value, to: Target.self) : nil
}

/// `value` as `Target`, which must be its very type: callers have just compared the two. As ``exactly(_:_:)``, without
/// an optional.
@inline(__always)
func same<Source, Target>(_ value: Source) -> Target {
    precondition(Source.self == Target.self)
    return unsafeBitCast(value, to: Target.self)
}
