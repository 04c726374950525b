import Vellum

/// One type in three versions of a program.
enum Version0 {
    struct Thing: ArchiveCodable, Equatable {
        static var archiveTypeName: String { "Thing" }
        var primaryKey: String
        var name: String
        var size = 1
    }
}

enum Version1 {
    struct Thing: ArchiveCodable, ArchiveVersioned, Equatable {
        static var archiveTypeName: String { "Thing" }
        static let archiveVersions = ArchiveVersions().version(1, renaming: ["name": "title"])
        var primaryKey: String
        var title: String
        var size = 1
    }
}

enum Version3 {
    struct Thing: ArchiveCodable, ArchiveVersioned, Equatable {
        static var archiveTypeName: String { "Thing" }
        static let archiveVersions = ArchiveVersions()
            .version(1, renaming: ["name": "title"])
            .version(2, renaming: ["title": "name", "size": "width"], adding: ["tags": [], "height": 7])
            .version(3) { thing in
                thing["label"] = .text((thing["name"]?.asString ?? "") + "!")
                if (thing["width"]?.asInt64 ?? 0) < 0 { throw Refused() }
            }
        struct Refused: Error {}

        var primaryKey: String
        var name: String
        var width: Int
        var tags: [String]
        var height: Int
        var label: String

        init(_ key: String, _ name: String, width: Int = 1) {
            (primaryKey, self.name, self.width, tags, height) = (key, name, width, [], 7)
            label = name + "!"
        }
    }

    /// Memory keeps it as bytes.
    final class Object: ArchiveCodable, ArchiveVersioned {
        static var archiveName: String { "Thing" }
        static var archiveTypeName: String { "Thing" }
        static let archiveVersions = ArchiveVersions().version(3, from: Version0.Thing.self) {
            Version3.Thing($0.primaryKey, $0.name, width: $0.size)
        }
        var primaryKey: String
        var label: String
    }
}
