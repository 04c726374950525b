/// A property that holds several objects, which are saved with their parent and can be queried on their own.
///
/// ```swift
/// struct Manufacturer: Papyrus {
///     let id: String
///     @HasMany var cars: [Car]
/// }
/// ```
///
/// Loading the parent loads the objects as they are stored now, in the parent's order. Deleted objects are left
/// out. Saving a parent with fewer objects than before deletes none of them.
///
/// Swift requires wrapped properties to be `var`. Other encoders, such as `JSONEncoder`, encode the property as an
/// array of the objects themselves.
@propertyWrapper
public struct HasMany<Value: ToManyRelation>: Codable, Equatable {
    /// The objects.
    public var wrappedValue: Value { didSet { if wrappedValue._isEmpty { cut = CutRelation() } } }
    private var cut = CutRelation()

    /// Wraps objects that are saved with their parent.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws {
        let reader = RelationReader(decoder)
        wrappedValue = try Value._readMany(reader)
        cut = reader.left.out
    }

    public func encode(to encoder: any Encoder) throws {
        try wrappedValue._writeMany(RelationWriter(encoder, cut: cut))
    }
}

extension HasMany: Sendable where Value: Sendable {}
extension HasMany: Hashable where Value: Hashable {}

extension KeyedDecodingContainer {
    /// An optional relation may be missing, like any optional property.
    public func decode<Objects: ToManyRelation>(
        _ type: HasMany<Objects?>.Type, forKey key: Key
    ) throws -> HasMany<Objects?> {
        try decodeIfPresent(type, forKey: key) ?? HasMany(wrappedValue: nil)
    }
}
