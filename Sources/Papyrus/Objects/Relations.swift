/// A type that ``HasOne`` can wrap: an object, or an optional one. Don't conform to it yourself.
public protocol ToOneRelation: Codable, Equatable {
    /// Internal to the library.
    static func _readOne(_ reader: RelationReader) throws -> Self
    /// Internal to the library.
    func _writeOne(_ writer: RelationWriter) throws
}

/// A type that ``HasMany`` can wrap: an array of objects, or an optional one. Don't conform to it yourself.
public protocol ToManyRelation: Codable, Equatable {
    /// Internal to the library.
    static func _readMany(_ reader: RelationReader) throws -> Self
    /// Internal to the library.
    func _writeMany(_ writer: RelationWriter) throws
    /// Internal to the library.
    var _isEmpty: Bool { get }
}

/// The identifiers of related objects that were left out where a parent occurs inside itself. Unless the relation is replaced,
/// the identifiers are written back, so that saving the object keeps relations that were not loaded.
struct CutRelation: Sendable, Hashable {
    var identifiers: [String] = []

    /// Always equal: the identifiers don't belong to the value.
    static func == (left: CutRelation, right: CutRelation) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

/// The source that a relation is read from. For the library's use only.
public struct RelationReader {
    let decoder: any Decoder
    /// The loader; `nil` if the input isn't from a store and contains the related objects themselves.
    let loader: ObjectLoader?
    /// Output: whether relations were left out.
    let left = Left()

    final class Left {
        var out = CutRelation()
    }

    init(_ decoder: any Decoder) {
        self.decoder = decoder
        loader = ObjectLoader.of(decoder)
    }
}

/// The target that a relation is written to. For the library's use only.
public struct RelationWriter {
    let encoder: any Encoder
    /// The writer; `nil` if the output isn't for a store and gets the related objects themselves.
    let writer: ObjectWriter?
    let cut: CutRelation

    init(_ encoder: any Encoder, cut: CutRelation = CutRelation()) {
        self.encoder = encoder
        self.cut = cut
        writer = ObjectWriter.of(encoder)
    }
}

/// A relation to one object is a map with its identifier and, unless it is optional, a copy of the object.
private enum RelationKey: String, CodingKey {
    case id, copy
}

private struct AnyName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Papyrus {
    public static func _readOne(_ reader: RelationReader) throws -> Self {
        guard let loader = reader.loader else { return try Self(from: reader.decoder) }
        let container = try reader.decoder.container(keyedBy: RelationKey.self)
        if let id = try? container.decode(String.self, forKey: .id),
            let object = try loader.load(Self.self, id)
        {
            return object
        }
        if container.contains(.copy) { return try container.decode(Self.self, forKey: .copy) }
        // The object was stored as a part of its parent, before the property was a relation.
        return try Self(from: reader.decoder)
    }

    public func _writeOne(_ writer: RelationWriter) throws {
        guard let objects = writer.writer else { return try encode(to: writer.encoder) }
        objects.add(self)
        var container = writer.encoder.container(keyedBy: RelationKey.self)
        try container.encode(id.description, forKey: .id)
        try objects.copying(self) { try container.encode(self, forKey: .copy) }
    }
}

extension Optional: ToOneRelation where Wrapped: Papyrus {
    public static func _readOne(_ reader: RelationReader) throws -> Wrapped? {
        if try reader.decoder.singleValueContainer().decodeNil() { return nil }
        guard let loader = reader.loader else { return try Wrapped(from: reader.decoder) }
        let container = try reader.decoder.container(keyedBy: RelationKey.self)
        if loader.isInsideItself {
            if let id = try? container.decode(String.self, forKey: .id) {
                reader.left.out.identifiers = [id]
            }
            return nil
        }
        if let id = try? container.decode(String.self, forKey: .id),
            let object = try loader.load(Wrapped.self, id)
        {
            return object
        }
        // With only an identifier, the object was deleted: a type without other properties must not be made of it.
        // Anything else was stored before the property was a relation.
        let names = try reader.decoder.container(keyedBy: AnyName.self).allKeys.map(\.stringValue)
        return names == [RelationKey.id.stringValue] ? nil : try? Wrapped(from: reader.decoder)
    }

    public func _writeOne(_ writer: RelationWriter) throws {
        guard let object = self else {
            if let id = writer.cut.identifiers.first, writer.writer?.isCopying == false {
                var container = writer.encoder.container(keyedBy: RelationKey.self)
                return try container.encode(id, forKey: .id)
            }
            var container = writer.encoder.singleValueContainer()
            return try container.encodeNil()
        }
        guard let objects = writer.writer else { return try object.encode(to: writer.encoder) }
        guard !objects.isCopying else {
            var container = writer.encoder.singleValueContainer()
            return try container.encodeNil()
        }
        objects.add(object)
        var container = writer.encoder.container(keyedBy: RelationKey.self)
        try container.encode(object.id.description, forKey: .id)
    }
}

extension Array: ToManyRelation where Element: Papyrus {
    public var _isEmpty: Bool { isEmpty }

    public static func _readMany(_ reader: RelationReader) throws -> [Element] {
        guard let loader = reader.loader else { return try [Element](from: reader.decoder) }
        var container = try reader.decoder.unkeyedContainer()
        if loader.isInsideItself {
            while !container.isAtEnd, let id = try? container.decode(String.self) {
                reader.left.out.identifiers.append(id)
            }
            return []
        }
        var objects: [Element] = []
        while !container.isAtEnd {
            if let id = try? container.decode(String.self) {
                // Deleted objects are left out.
                if let object = try loader.load(Element.self, id) { objects.append(object) }
            } else {
                // The object was stored as a part of its parent, before the property was a relation.
                objects.append(try container.decode(Element.self))
            }
        }
        return objects
    }

    public func _writeMany(_ writer: RelationWriter) throws {
        guard let objects = writer.writer else { return try encode(to: writer.encoder) }
        var container = writer.encoder.unkeyedContainer()
        guard !objects.isCopying else { return }
        let ids = Set(map(\.id.description))
        for id in writer.cut.identifiers where !ids.contains(id) { try container.encode(id) }
        for object in self {
            objects.add(object)
            try container.encode(object.id.description)
        }
    }
}

extension Optional: ToManyRelation where Wrapped: ToManyRelation {
    public var _isEmpty: Bool { self?._isEmpty ?? true }

    public static func _readMany(_ reader: RelationReader) throws -> Wrapped? {
        if try reader.decoder.singleValueContainer().decodeNil() { return nil }
        return try Wrapped._readMany(reader)
    }

    public func _writeMany(_ writer: RelationWriter) throws {
        guard let objects = self else {
            var container = writer.encoder.singleValueContainer()
            return try container.encodeNil()
        }
        try objects._writeMany(writer)
    }
}
