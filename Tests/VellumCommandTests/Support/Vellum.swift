import Foundation
import StorageEngine
import TestSupport
import Testing

/// The built program, run like by a shell.
enum Vellum {
    typealias Result = ChildProcess.Outcome

    /// The folder of the package.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let cities = root.appendingPathComponent("Assets/demo/cities.ndjson").path

    static let executable = URL(
        fileURLWithPath: (try? ChildProcess.program(named: "vellum")) ?? "/vellum-was-not-built")

    private static let state =
        FileManager.default.temporaryDirectory.path + "/vellum-tests-state-\(getpid())"

    /// This process's environment without a store and settings, plus `own`.
    static func environment(_ own: [String: String]) -> [String: String] {
        var variables = ProcessInfo.processInfo.environment
        variables["VELLUM_STORE"] = nil
        variables["XDG_CACHE_HOME"] = "/nonexistent"
        variables["XDG_CONFIG_HOME"] = "/nonexistent"
        // Keeps the state of the user's browser unchanged.
        variables["XDG_STATE_HOME"] = state
        return variables.merging(own) { $1 }
    }

    /// Runs to the end with `input` on standard input, and collects the output.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> Result {
        try Spawned(arguments, input: input, environment: environment).result()
    }

    /// Runs a script with `$0` as the program and `words` as `$1` and so on.
    static func shell(_ script: String, _ words: String...) throws -> Result {
        try ChildProcess.run(
            "/bin/sh", ["-c", script, executable.path] + words, environment: environment([:]))
    }
}

/// A folder that is removed when released.
final class TemporaryFolder: Sendable {
    let path: String

    /// Without the folder, each use of it fails.
    init() {
        path = FileManager.default.temporaryDirectory.path + "/vellum-command-" + UUID().uuidString
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { discard(path) }

    static func / (folder: TemporaryFolder, name: String) -> String { folder.path + "/" + name }

    /// Writes a file and returns its path.
    func file(_ name: String, _ content: String) throws -> String {
        try Data(content.utf8).write(to: URL(fileURLWithPath: self / name))
        return self / name
    }
}

/// A store for a test, and the program run on it.
struct TestStore {
    let folder = TemporaryFolder()
    var path: String { folder / "store" }

    func run(_ arguments: String..., input: String = "") throws -> Vellum.Result {
        try Vellum.run(["--store", path] + arguments, input: input)
    }

    /// Runs a command that must succeed.
    @discardableResult
    func done(
        _ arguments: String..., input: String = "", location: SourceLocation = #_sourceLocation
    ) throws -> Vellum.Result {
        let result = try Vellum.run(["--store", path] + arguments, input: input)
        #expect(result.status == 0, "\(arguments): \(result.errors)", sourceLocation: location)
        return result
    }

    /// Imports a file with this content into `A`.
    func importing(_ name: String, _ content: String, _ options: String...) throws -> Vellum.Result {
        let file = try folder.file(name, content)
        return try Vellum.run(["--store", path, "import", "A", file, "--key", "id"] + options)
    }

    /// Imports lines of JSON into `A`, exports it to a file, and imports that into `B`. Returns the lines of `B` and what the
    /// export reported.
    func reimported(_ lines: [String], by name: String) throws -> (lines: [String], reported: String) {
        try done("import", "A", "-", "--key", "id", input: lines.joined(separator: "\n"))
        let reported = try done("export", "A", folder / name).errors
        try done("import", "B", folder / name, "--key", "id")
        return (try done("export", "B").lines, reported)
    }

    /// `ls --json` by archive name.
    func archives() throws -> [String: [String: Any]] {
        let list = try JSON.array(done("ls", "--json").output)
        return Dictionary(uniqueKeysWithValues: list.map { ($0["archive"] as? String ?? "", $0) })
    }

    /// The keys of an archive, the most recent first.
    func keys(_ archive: String) throws -> [String] {
        try done("keys", archive, "--json").lines.map { try #require(JSON.object($0)["key"] as? String) }
    }
}

extension ChildProcess.Outcome {
    /// Expects this exit status, and these texts in standard error.
    @discardableResult
    func expect(
        _ status: Int32, errors texts: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        #expect(self.status == status, "\(errors)", sourceLocation: sourceLocation)
        for text in texts {
            #expect(errors.contains(text), "\(errors)", sourceLocation: sourceLocation)
        }
        return self
    }
}

extension Store {
    /// A collection without limits, created if missing.
    func collection(_ name: String) throws -> Archive {
        try archive(named: name, orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
    }
}

/// JSON as an independent parser reads it.
enum JSON {
    static func array(_ data: Data) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    }

    static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    static func equal(_ first: String, _ second: String) throws -> Bool {
        let options: JSONSerialization.ReadingOptions = [.fragmentsAllowed]
        let one = try JSONSerialization.jsonObject(with: Data(first.utf8), options: options) as? NSObject
        let two = try JSONSerialization.jsonObject(with: Data(second.utf8), options: options) as? NSObject
        return one != nil && one == two
    }
}
