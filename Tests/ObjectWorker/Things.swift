import Vellum

/// An object that says which of its versions it is.
protocol Versioned: ArchiveCodable {
    var version: Int { get }
    init(_ key: String, version: Int)
}

/// Memory keeps such an object itself.
struct Sheet: Versioned {
    let primaryKey: String
    let version: Int
    let text: String

    init(_ key: String, version: Int) {
        primaryKey = key
        self.version = version
        text = String(repeating: "x", count: 200)
    }
}

/// Of such an object memory keeps the bytes.
final class Book: Versioned {
    let primaryKey: String
    let version: Int

    init(_ key: String, version: Int) {
        primaryKey = key
        self.version = version
    }
}

/// The third version of an object, of which the tests have the versions before.
struct Thing: ArchiveCodable, ArchiveVersioned {
    static var archiveTypeName: String { "Thing" }
    static let archiveVersions = ArchiveVersions().version(
        3, renaming: ["size": "width"], adding: ["tags": [], "height": 7, "label": "thing!"])
    var primaryKey: String
    var name: String
    var width: Int
    var tags: [String]
    var height: Int
    var label: String
}
