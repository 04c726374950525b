/// A property that holds another object, which is saved with its parent and can be queried on its own.
///
/// ```swift
/// struct Manufacturer: Papyrus {
///     let id: String
///     @HasOne var address: Address
/// }
/// ```
///
/// Loading the parent gives the object as it is stored now, whoever saved it last. If it was deleted, an optional property is
/// `nil`; another one has the object as it was when its parent was saved, without its own relations but those it can't be
/// without.
///
/// Swift has wrapped properties as `var` only. Encoded by anything but a store, as JSON for instance, the property is the object
/// itself.
@propertyWrapper
public struct HasOne<Value: ToOneRelation>: Codable, Equatable {
    /// The object.
    public var wrappedValue: Value

    /// Wraps an object that is saved with its parent.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws {
        wrappedValue = try Value._readOne(RelationReader(decoder))
    }

    public func encode(to encoder: any Encoder) throws { try wrappedValue._writeOne(RelationWriter(encoder)) }
}

extension HasOne: Sendable where Value: Sendable {}
extension HasOne: Hashable where Value: Hashable {}

extension KeyedDecodingContainer {
    /// An optional relation may be missing, as any optional property may.
    public func decode<Object: Papyrus>(
        _ type: HasOne<Object?>.Type, forKey key: Key
    ) throws -> HasOne<Object?> {
        try decodeIfPresent(type, forKey: key) ?? HasOne(wrappedValue: nil)
    }
}
