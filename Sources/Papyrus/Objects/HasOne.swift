/// A property that holds another object, which is saved with its parent and can be queried on its own.
///
/// ```swift
/// struct Manufacturer: Papyrus {
///     let id: String
///     @HasOne var address: Address
/// }
/// ```
///
/// Loading the parent loads the object as it is stored now. If it was deleted, an optional property is `nil`. Any
/// other property then has the object as it was when its parent was saved, with only its non-optional relations.
///
/// Swift requires wrapped properties to be `var`. Other encoders, such as `JSONEncoder`, encode the property as the
/// object itself.
@propertyWrapper
public struct HasOne<Value: ToOneRelation>: Codable, Equatable {
    /// The object.
    public var wrappedValue: Value { didSet { cut = CutRelation() } }
    private var cut = CutRelation()

    /// Wraps an object that is saved with its parent.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws {
        let reader = RelationReader(decoder)
        wrappedValue = try Value._readOne(reader)
        cut = reader.left.out
    }

    public func encode(to encoder: any Encoder) throws {
        try wrappedValue._writeOne(RelationWriter(encoder, cut: cut))
    }
}

extension HasOne: Sendable where Value: Sendable {}
extension HasOne: Hashable where Value: Hashable {}

extension KeyedDecodingContainer {
    /// An optional relation may be missing, like any optional property.
    public func decode<Object: Papyrus>(
        _ type: HasOne<Object?>.Type, forKey key: Key
    ) throws -> HasOne<Object?> {
        try decodeIfPresent(type, forKey: key) ?? HasOne(wrappedValue: nil)
    }
}
