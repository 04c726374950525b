import Foundation

/// A source file of the package, or a test's text in place of one.
struct SourceFile {
    /// Relative to the package's root, with `/`.
    let path: String
    let text: String
    private let lexed: LexedSource

    init(path: String, text: String) {
        self.path = path
        self.text = text
        lexed = LexedSource(text)
    }

    /// Code: comments and string literals are blanked.
    var code: String { lexed.text(keeping: [.code]) }
    /// Code and string literals: comments are blanked.
    var uncommented: String { lexed.text(keeping: [.code, .string]) }
    var strings: String { lexed.text(keeping: [.string]) }
    var comments: String { lexed.text(keeping: [.comment]) }

    /// `StorageEngine` for `Sources/StorageEngine/Format/Frame.swift`; nil for a file in no module's folder.
    var module: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 ? String(parts[1]) : nil
    }

    func isUnder(_ folder: String) -> Bool { path.hasPrefix(folder + "/") }
}

/// The package on disk.
struct SourceTree {
    let files: [SourceFile]
    /// Markdown: README, manual, and the documents in `Sources` and `Tests`.
    let documents: [SourceFile]
    let manifest: SourceFile
    /// Names directly under the root, without hidden ones.
    let topLevel: [String]
    /// Names directly under `Sources`, without hidden ones.
    let sourcesLevel: [String]
    let gitIgnore: String

    static let sourceExtensions: Set<String> = ["swift", "c", "h"]

    /// Reads every source under `Sources` and `Tests`; a few milliseconds for a thousand lines.
    init(root: URL) throws {
        func read(_ path: String) throws -> String {
            try String(contentsOf: root.appending(path: path), encoding: .utf8)
        }
        func list(_ path: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: root.appending(path: path).path)
                .filter { !$0.hasPrefix(".") }.sorted()
        }
        func sources(
            under folder: String, _ extensions: Set<String> = Self.sourceExtensions
        ) throws -> [SourceFile] {
            try list(folder).flatMap { name -> [SourceFile] in
                let path = "\(folder)/\(name)"
                var isFolder: ObjCBool = false
                let exists = FileManager.default.fileExists(
                    atPath: root.appending(path: path).path, isDirectory: &isFolder)
                if exists, isFolder.boolValue { return try sources(under: path, extensions) }
                guard extensions.contains((name as NSString).pathExtension) else { return [] }
                return [SourceFile(path: path, text: try read(path))]
            }
        }
        files = try sources(under: "Sources") + sources(under: "Tests")
        documents =
            try [SourceFile(path: "README.md", text: read("README.md"))]
            + ["Assets/manual", "Sources", "Tests"].flatMap { try sources(under: $0, ["md"]) }
        manifest = SourceFile(path: "Package.swift", text: try read("Package.swift"))
        topLevel = try list("")
        sourcesLevel = try list("Sources")
        gitIgnore = try read(".gitignore")
    }

    /// The package of this test; read once for all tests.
    static let ofThisPackage = Result {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try SourceTree(root: root)
    }
}
