import Foundation
import TestSupport

/// The Swift compiler, called as by users of the library.
struct Compiler {
    /// `nil` if there is no compiler, or the module isn't beside the tests.
    static let shared = Compiler()

    private let modules: URL
    private let moduleMap: URL

    private init?() {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let module = folder.appending(path: "Modules/Vellum.swiftmodule")
        guard FileManager.default.fileExists(atPath: module.path), let version = try? Self.run(["--version"]),
            version.contains("Swift version")
        else { return nil }
        modules = folder.appending(path: "Modules")
        moduleMap = folder.appending(path: "CPlatform.build/module.modulemap")
    }

    /// The compiler's output for a file.
    func check(_ code: String, options: [String] = []) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "vellum-snippet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "Snippet.swift")
        try code.write(to: file, atomically: true, encoding: .utf8)
        return try Self.run(
            [
                "-typecheck", "-parse-as-library", "-swift-version", "6", "-I", modules.path,
                "-Xcc", "-fmodule-map-file=\(moduleMap.path)", "-module-cache-path", folder.path,
                "-diagnostic-style", "llvm", file.path,
            ] + options)
    }

    private static func run(_ arguments: [String]) throws -> String {
        let outcome = try ChildProcess.run("/usr/bin/env", ["swiftc"] + arguments)
        return outcome.text + outcome.errors
    }
}
