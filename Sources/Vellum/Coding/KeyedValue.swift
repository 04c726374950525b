import CBOR
import Foundation
import StorageEngine

/// A value with a separate key. Archives of such values come from
/// `ArchivesFactory.values(of:named:trySetMaxMemorySize:trySetMaxDiskSize:kind:durability:evictionPolicy:lifetime:slides:appliesSettings:)`.
///
/// Only the value is stored: `Data` as its bytes, `String` as UTF-8, everything else as CBOR.
public struct KeyedValue<Value: Codable>: Archivable {
    /// 1 to 1,024 bytes of UTF-8.
    public var primaryKey: String
    /// The stored value.
    public var value: Value

    /// Creates a value with its key.
    public init(_ value: Value, forKey key: String) {
        primaryKey = key
        self.value = value
    }

    /// The value's type.
    public static var archiveTypeName: String {
        // Where Foundation is split into several modules, `Data` is in one with another name.
        Value.self is Data.Type ? "Data" : readableName(of: Value.self)
    }

    /// A value has no properties with archives of their own.
    public static var archivePropertyBehavior: ArchivePropertyBehavior { .ignore }

    /// Encodes the value.
    public func archive() throws -> Data { Data(try KeyedValueCoder<Value>().encode(self).bytes) }

    /// Decodes the value and adds the key.
    public static func deArchive(fromData data: Data, forKey key: String) throws -> Archivable {
        try data.withUnsafeBytes { try KeyedValueCoder<Value>().decode($0, key: key).object }
    }

    /// Always throws, because the bytes don't contain the key.
    public static func deArchive(fromData data: Data) throws -> Archivable {
        throw ArchiveError.noCoding(type: readableName(of: Self.self))
    }
}

extension KeyedValue: Sendable where Value: Sendable {}
extension KeyedValue: Equatable where Value: Equatable {}

protocol AnyKeyedValue: Archivable {
    static func coder() -> AnyObject
}

extension KeyedValue: AnyKeyedValue {
    static func coder() -> AnyObject { KeyedValueCoder<Value>() }
}

/// Encodes the value without its key. When decoding, it takes the key of the entry.
private final class KeyedValueCoder<Value: Codable>: ArchiveCoder<KeyedValue<Value>>, @unchecked Sendable {
    private let ownForm = StoredForm(of: Value.self)

    override var form: StoredForm? { Value.self is Data.Type || Value.self is String.Type ? nil : ownForm }

    override func encode(_ object: KeyedValue<Value>) throws -> EncodedObject {
        func encoded(_ bytes: [UInt8], _ encoding: ValueEncoding) -> EncodedObject {
            EncodedObject(bytes: bytes, encoding: encoding, isShared: false, properties: [])
        }
        if let data = object.value as? Data { return encoded([UInt8](data), .unknown) }
        if let text = object.value as? String { return encoded(Array(text.utf8), .text) }
        let parts = PartsOfObject()
        var result = encoded(
            try ownForm.numbered(CBOREncoder().encode(object.value, watcher: parts)), .cbor)
        result.isShared = parts.areShared || Value.self is AnyObject.Type
        return result
    }

    override func decode(
        _ bytes: UnsafeRawBufferPointer, key: String
    ) throws -> DecodedObject<KeyedValue<Value>> {
        func decoded(_ value: Value, isShared: Bool = false, isMigrated: Bool = false)
            -> DecodedObject<KeyedValue<Value>>
        {
            DecodedObject(object: KeyedValue(value, forKey: key), isShared: isShared, isMigrated: isMigrated)
        }
        if Value.self is Data.Type, let data = Data(bytes) as? Value { return decoded(data) }
        if Value.self is String.Type {
            guard let text = String(validating: bytes, as: UTF8.self) as? Value else {
                throw ArchiveError.noText
            }
            return decoded(text)
        }
        return try ownForm.withPresent(bytes, type: Value.self, key: key) { bytes, isMigrated in
            var isShared = false
            let value = try CBORDecoder().decode(Value.self, from: bytes, sawReference: &isShared)
            return decoded(value, isShared: isShared, isMigrated: isMigrated)
        }
    }
}
