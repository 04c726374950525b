import CBOR
import Foundation
import StorageEngine

extension Archivable where Self: Codable {
    /// The object as CBOR.
    public func archive() throws -> Data {
        CodecProbe.current?.record(.archive, of: Self.self)
        return try archiveData()
    }

    /// The object as CBOR.
    public func archiveData() throws -> Data {
        if let probe = CodecProbe.current, probe.record(.archiveData, of: Self.self) { return Data() }
        return Data(try CBOREncoder().encode(self))
    }

    /// Decodes the object from CBOR, and ignores the key.
    public static func deArchive(fromData data: Data, forKey key: String) throws -> Archivable {
        CodecProbe.current?.record(.deArchiveForKey, of: Self.self)
        return try deArchive(fromData: data)
    }

    /// The object of this CBOR.
    public static func deArchive(fromData data: Data) throws -> Archivable {
        CodecProbe.current?.record(.deArchive, of: Self.self)
        return try decode(archive: data)
    }

    /// The object of this CBOR.
    public static func decode(archive data: Data) throws -> Archivable {
        if let probe = CodecProbe.current, probe.record(.decode, of: Self.self) { throw CodecProbe.Reached() }
        return try CBORDecoder().decode(Self.self, from: data)
    }
}

extension Archivable {
    /// Calls ``archiveData()``.
    public func archive() throws -> Data { try OtherSpelling.ask(Self.self) { try archiveData() } }

    /// Calls ``archive()``.
    public func archiveData() throws -> Data { try OtherSpelling.ask(Self.self) { try archive() } }

    /// Calls ``deArchive(fromData:)``, and ignores the key.
    public static func deArchive(fromData data: Data, forKey key: String) throws -> Archivable {
        try deArchive(fromData: data)
    }

    /// Calls ``decode(archive:)``.
    public static func deArchive(fromData data: Data) throws -> Archivable {
        try OtherSpelling.ask(Self.self) { try decode(archive: data) }
    }

    /// Calls ``deArchive(fromData:)``.
    public static func decode(archive data: Data) throws -> Archivable {
        try OtherSpelling.ask(Self.self) { try deArchive(fromData: data) }
    }
}

/// Ends the recursion for a type that implements neither of two spellings, whose defaults call each other.
private enum OtherSpelling {
    @TaskLocal private static var asking: ObjectIdentifier?

    static func ask<Value>(_ type: any Archivable.Type, _ body: () throws -> Value) throws -> Value {
        guard asking != ObjectIdentifier(type) else {
            throw ArchiveError.noCoding(type: readableName(of: type))
        }
        return try $asking.withValue(ObjectIdentifier(type), operation: body)
    }
}

/// Whether a type implements `archive()` itself. If not, the library encodes it directly and sees its parts.
final class CodecProbe: Sendable {
    enum Step: Sendable { case archive, archiveData, deArchiveForKey, deArchive, decode }

    /// The default implementations in the order in which they call each other, for encoding and for decoding.
    private static let ways: [[Step]] = [[.archive, .archiveData], [.deArchiveForKey, .deArchive, .decode]]

    struct Reached: Error {}

    @TaskLocal static var current: CodecProbe?

    private let type: ObjectIdentifier
    private let steps = Guarded<[Step]>([])

    private init(_ type: any Archivable.Type) { self.type = ObjectIdentifier(type) }

    @discardableResult
    func record(_ step: Step, of type: any Archivable.Type) -> Bool {
        guard ObjectIdentifier(type) == self.type else { return false }
        return steps.withLock { steps in
            steps.append(step)
            return Self.ways.contains(steps)
        }
    }

    private var sawAll: Bool { steps.withLock { Self.ways.contains($0) } }

    /// Whether the library encodes an object. If not, the type's code has run once without effect.
    static func isEncodedByLibrary<Object: Archivable>(_ object: Object) -> Bool {
        let probe = CodecProbe(Object.self)
        _ = $current.withValue(probe) { try? object.archive() }
        return probe.sawAll
    }

    static func isDecodedByLibrary<Object: Archivable>(_ type: Object.Type) -> Bool {
        let probe = CodecProbe(type)
        _ = $current.withValue(probe) { try? type.deArchive(fromData: Data(), forKey: "") }
        return probe.sawAll
    }
}
