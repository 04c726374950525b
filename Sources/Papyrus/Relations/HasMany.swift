/// A property that holds several objects, which are saved with their parent and can be queried on their own.
///
/// ```swift
/// struct Manufacturer: Papyrus {
///     let id: String
///     @HasMany var cars: [Car]
/// }
/// ```
///
/// Loading the parent gives the objects as they are stored now, whoever saved them last, in the order that they had in the
/// parent. Those that were deleted are left out. Saving a parent that holds fewer objects than before deletes none.
///
/// Swift has wrapped properties as `var` only. Encoded by anything but a store, as JSON for instance, the property is an array of
/// the objects themselves.
@propertyWrapper
public struct HasMany<Value: ToManyRelation>: Codable, Equatable {
    /// The objects.
    public var wrappedValue: Value

    /// Wraps objects that are saved with their parent.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws {
        wrappedValue = try Value._readMany(RelationReader(decoder))
    }

    public func encode(to encoder: any Encoder) throws {
        try wrappedValue._writeMany(RelationWriter(encoder))
    }
}

extension HasMany: Sendable where Value: Sendable {}
extension HasMany: Hashable where Value: Hashable {}

extension KeyedDecodingContainer {
    /// An optional relation may be missing, as any optional property may.
    public func decode<Objects: ToManyRelation>(
        _ type: HasMany<Objects?>.Type, forKey key: Key
    ) throws -> HasMany<Objects?> {
        try decodeIfPresent(type, forKey: key) ?? HasMany(wrappedValue: nil)
    }
}
