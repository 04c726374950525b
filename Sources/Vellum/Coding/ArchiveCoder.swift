import CBOR
import Foundation
import StorageEngine

package struct EncodedObject {
    package var bytes: [UInt8]
    package var encoding: ValueEncoding
    /// Whether the object is an instance of a class or contains one, so that others could change it.
    var isShared: Bool
    var properties: [any Archivable]
}

struct DecodedObject<Object> {
    var object: Object
    var isShared: Bool
    var isMigrated = false
}

class ArchiveCoder<Object: Archivable>: @unchecked Sendable {
    static func coder() -> ArchiveCoder<Object> {
        func codable<Encoded: ArchiveCodable>(_: Encoded.Type) -> AnyObject { CodableCoder<Encoded>() }
        if let type = Object.self as? any AnyKeyedValue.Type,
            let coder = type.coder() as? ArchiveCoder<Object>
        {
            return coder
        }
        guard let type = Object.self as? any ArchiveCodable.Type else { return ArchiveCoder() }
        return codable(type) as? ArchiveCoder<Object> ?? ArchiveCoder()
    }

    var isDecodedByLibrary: Bool { false }

    /// How values store their version; `nil` if only the type can read them.
    var form: StoredForm? { nil }

    init() {}

    func encode(_ object: Object) throws -> EncodedObject {
        EncodedObject(
            bytes: [UInt8](try object.archive()), encoding: .unknown, isShared: Object.self is AnyObject.Type,
            properties: properties(of: object))
    }

    func decode(_ bytes: UnsafeRawBufferPointer, key: String) throws -> DecodedObject<Object> {
        let decoded = try Object.deArchive(fromData: Data(bytes), forKey: key)
        guard let object = decoded as? Object else {
            throw ArchiveError.otherType(
                wanted: readableName(of: Object.self), found: readableName(of: type(of: decoded)))
        }
        return DecodedObject(object: object, isShared: Object.self is AnyObject.Type)
    }

    private func properties(of object: Object) -> [any Archivable] {
        guard Object.archivePropertyBehavior != .ignore else { return [] }
        return sequence(first: Mirror(reflecting: object), next: \.superclassMirror)
            .flatMap(\.children).compactMap { $0.value as? any Archivable }
    }
}

private final class CodableCoder<Object: ArchiveCodable>: ArchiveCoder<Object>, @unchecked Sendable {
    private let isEncodedByLibrary = Guarded<Bool?>(nil)
    private let decodesByLibrary = CodecProbe.isDecodedByLibrary(Object.self)
    private let watchesProperties = Object.archivePropertyBehavior != .ignore

    private let ownForm = StoredForm(of: Object.self)

    override var isDecodedByLibrary: Bool { decodesByLibrary }
    override var form: StoredForm? { decodesByLibrary ? ownForm : nil }

    override func encode(_ object: Object) throws -> EncodedObject {
        let isOurs = isEncodedByLibrary.withLock { known -> Bool in
            if let known { return known }
            let found = CodecProbe.isEncodedByLibrary(object)
            known = found
            return found
        }
        guard ownForm.versions.current == 0 || isOurs && decodesByLibrary else {
            throw ArchiveError.noProperties
        }
        guard isOurs else { return try super.encode(object) }
        let parts = PartsOfObject()
        let bytes = try ownForm.numbered(CBOREncoder().encode(object, watcher: parts))
        return EncodedObject(
            bytes: bytes, encoding: .cbor, isShared: parts.areShared || Object.self is AnyObject.Type,
            properties: watchesProperties ? parts.properties : [])
    }

    override func decode(_ bytes: UnsafeRawBufferPointer, key: String) throws -> DecodedObject<Object> {
        guard decodesByLibrary else { return try super.decode(bytes, key: key) }
        return try ownForm.withPresent(bytes, type: Object.self, key: key) { bytes, isMigrated in
            var isShared = false
            let object = try CBORDecoder().decode(Object.self, from: bytes, sawReference: &isShared)
            return DecodedObject(object: object, isShared: isShared, isMigrated: isMigrated)
        }
    }
}

final class PartsOfObject: EncodingWatcher {
    private(set) var areShared = false
    private(set) var properties: [any Archivable] = []

    func willEncode<Value: Encodable>(_ value: Value, at path: [any CodingKey]) {
        guard !path.isEmpty else { return }
        if Value.self is AnyObject.Type { areShared = true }
        // A direct property, those of superclasses included, but not an element of a collection.
        guard let archivable = value as? any Archivable,
            path.count(where: { $0.stringValue != "super" }) == 1, path.last?.intValue == nil
        else { return }
        properties.append(archivable)
    }
}
