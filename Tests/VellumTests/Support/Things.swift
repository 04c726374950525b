import Foundation
import Vellum

/// An object whose encoded size is known: its text is most of it.
struct Note: ArchiveCodable, Equatable {
    var primaryKey: String
    var text: String

    init(_ key: String, _ text: String = "") {
        primaryKey = key
        self.text = text
    }

    /// Encodes to `size` bytes, at least 64; one byte less where the length prefix doesn't allow the size.
    static func sized(_ key: String, _ size: Int, filler: Character = "x") -> Note {
        var note = Note(key, String(repeating: filler, count: size))
        while let count = try? note.archive().count, count > size { note.text.removeLast(count - size) }
        return note
    }
}

struct Address: Codable, Equatable {
    var street: String
    var city: String
}

final class Person: ArchiveCodable {
    var primaryKey: String { name }
    var name: String
    var age: Int

    init(name: String, age: Int) {
        self.name = name
        self.age = age
    }
}

/// A value with a part that is a reference.
struct Team: ArchiveCodable {
    var primaryKey: String
    var leader: Person
    var members: [Person]
}

struct Engine: ArchiveCodable, Equatable {
    var primaryKey: String
    var power: Int
}

class Vehicle: ArchiveCodable {
    var primaryKey: String
    var engine: Engine?

    init(_ key: String, engine: Engine?) {
        primaryKey = key
        self.engine = engine
    }
}

struct Car: ArchiveCodable {
    var primaryKey: String
    var engine: Engine
    var spare: Engine?
    var engines: [Engine] = []
}

struct ReplacingCar: ArchiveCodable {
    static var archivePropertyBehavior: ArchivePropertyBehavior { .replaceExisting }
    var primaryKey: String
    var engine: Engine
}

struct IgnoringCar: ArchiveCodable {
    static var archivePropertyBehavior: ArchivePropertyBehavior { .ignore }
    var primaryKey: String
    var engine: Engine
}
