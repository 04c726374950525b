import Vellum

/// An object with a version number.
protocol Versioned: ArchiveCodable {
    var version: Int { get }
    init(_ key: String, version: Int)
}

/// An object that memory keeps without encoding.
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

/// An object that memory keeps as bytes.
final class Book: Versioned {
    let primaryKey: String
    let version: Int

    init(_ key: String, version: Int) {
        primaryKey = key
        self.version = version
    }
}

/// The third version of an object; the tests have the earlier versions.
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
