import Foundation
import TestSupport
import Testing

/// The public interface of a module as a page of Markdown, from the compiler's symbol graphs: declarations and the first
/// sentences of their documentation.
struct InterfacePage {
    private struct Graph: Decodable {
        struct Symbol: Decodable {
            struct Fragment: Decodable { var spelling: String }
            struct Comment: Decodable {
                struct Line: Decodable { var text: String }
                var lines: [Line]
            }
            struct Kind: Decodable { var identifier: String }
            struct Extension: Decodable {
                struct Constraint: Decodable { var kind: String, lhs: String, rhs: String }
                var constraints: [Constraint]?
            }
            struct Availability: Decodable { var isUnconditionallyUnavailable: Bool? }
            struct Location: Decodable {
                struct Position: Decodable { var line: Int }
                var uri: String
                var position: Position
            }
            var kind: Kind
            var pathComponents: [String]
            var declarationFragments: [Fragment]
            var docComment: Comment?
            var swiftExtension: Extension?
            var availability: [Availability]?
            var location: Location?

            /// On one line, with the constraints of the extension that declares it.
            var declaration: String {
                let text = declarationFragments.map(\.spelling).joined().split(whereSeparator: \.isWhitespace)
                    .joined(separator: " ")
                let conditions = (swiftExtension?.constraints ?? []).map {
                    $0.lhs + ($0.kind == "sameType" ? " == " : ": ") + $0.rhs
                }
                let plain = text.components(separatedBy: " { get")[0]
                return (isSetElsewhere ? plain + " { get }" : text)
                    + (conditions.isEmpty ? "" : ", where " + conditions.joined(separator: ", "))
            }
            /// Whether only the library sets it; the graph doesn't contain that.
            private var isSetElsewhere: Bool {
                guard kind.identifier == "swift.property", let location, let file = URL(string: location.uri),
                    let source = try? String(contentsOf: file, encoding: .utf8)
                else { return false }
                let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
                return lines.indices.contains(location.position.line)
                    && lines[location.position.line].contains(/(private|package)\(set\)/)
            }
            var isAvailable: Bool {
                availability?.contains { $0.isUnconditionallyUnavailable == true } != true
            }
            var isType: Bool {
                ["class", "struct", "enum", "protocol", "macro"].contains { kind.identifier == "swift." + $0 }
            }
            var path: String { pathComponents.joined(separator: ".") }
            var owner: String { pathComponents.dropLast().joined(separator: ".") }

            /// The first sentence.
            var abstract: String {
                let lines = (docComment?.lines ?? []).map(\.text).prefix {
                    !$0.isEmpty && !$0.hasPrefix("- ")
                }
                let paragraph = lines.joined(separator: " ")
                let end = paragraph.firstRange(of: /[.:](?= [A-Z`]|$)/)?.lowerBound ?? paragraph.endIndex
                // Double backquotes enclose a link, whose last part is enough here.
                let parts = paragraph[..<end].components(separatedBy: "``")
                return parts.enumerated().map { (place, part) in
                    place % 2 == 0 ? part : "`" + (part.components(separatedBy: "/").last ?? "") + "`"
                }.joined()
            }
        }
        var symbols: [Symbol]
    }

    private let symbols: [Graph.Symbol]

    init(graphs: [Data]) throws {
        symbols = try graphs.flatMap { try JSONDecoder().decode(Graph.self, from: $0).symbols }
            .filter(\.isAvailable)
    }

    private init(symbols: [Graph.Symbol]) { self.symbols = symbols }

    /// The page with the types of another module in place of the names under which this module exports them.
    func with(_ types: Set<String>, of other: InterfacePage) -> InterfacePage {
        InterfacePage(
            symbols: symbols.filter { !types.contains($0.path) }
                + other.symbols.filter { types.contains($0.pathComponents[0]) })
    }

    /// Symbols without documentation.
    var undocumented: [String] { symbols.filter { $0.abstract.isEmpty }.map(\.path).sorted() }

    /// Sections of the types, by name. Symbols outside the module's types are listed under the type that they
    /// extend.
    func sections(_ heading: String = "##") -> String {
        let types = symbols.filter(\.isType)
        let members = Dictionary(grouping: symbols.filter { !$0.isType }, by: \.owner)
        let names = Set(types.map(\.path)).union(members.keys).sorted()
        return names.map { name in
            let type = types.first { $0.path == name }
            var text = "\(heading) \(name.isEmpty ? "Operators and names" : name)\n\n"
            if let type { text += "`\(type.declaration)`: \(type.abstract).\n\n" }
            let rows = (members[name] ?? []).map { member in
                let cells = [member.declaration, member.abstract].map {
                    $0.replacingOccurrences(of: "|", with: "\\|")
                }
                return "| `\(cells[0])` | \(cells[1]) |"
            }
            if !rows.isEmpty {
                text += "| | |\n|---|---|\n" + Set(rows).sorted().joined(separator: "\n") + "\n\n"
            }
            return text
        }.joined()
    }
}

@Suite struct InterfacePageTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources/Vellum/Vellum.docc/Interface.md")

    private static let introduction = """
        # The interface

        Everything public of the module, type by type, with the sentence that its documentation begins with; then the same of
        the products for tests, metrics and services.


        """

    private func interface(of module: String) throws -> InterfacePage {
        let folder = FileManager.default.temporaryDirectory.appending(path: "interface-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let built = try URL(fileURLWithPath: ChildProcess.program(named: "ObjectWorker"))
            .deletingLastPathComponent()
        let triple = built.resolvingSymlinksInPath().deletingLastPathComponent().lastPathComponent
        let shim = Self.page.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "CPlatform/include").path
        let extraction = try ChildProcess.run(
            "/usr/bin/env",
            [
                "swift", "symbolgraph-extract", "-module-name", module, "-target", triple,
                "-I", built.appending(path: "Modules").path, "-Xcc", "-I" + shim,
                "-Xcc", "-fmodule-map-file=" + built.appending(path: "CPlatform.build/module.modulemap").path,
                "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", folder.path,
            ])
        try #require(extraction.status == 0, "\(extraction.errors)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try InterfacePage(
            graphs: files.map { try Data(contentsOf: folder.appending(path: $0)) })
    }

    /// Types that are built only with a trait have no graph here: reads their public lines and documentation.
    private func serviceLifecycle() throws -> String {
        let file = Self.page.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "VellumLifecycle/StoreService.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let lines = source.prefix(upTo: try #require(source.firstRange(of: "#else")).lowerBound)
            .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        var (comment, text) = ("", "")
        for (place, line) in lines.enumerated() {
            if line.hasPrefix("/// ") { comment += line.dropFirst(4) + " " }
            guard line.hasPrefix("public ") else { continue }
            comment = String(comment.prefix { $0 != "." })
            let end = lines[place...].firstIndex { $0.hasSuffix("{") } ?? place
            let declaration = lines[place...end].joined(separator: " ").dropFirst(7).dropLast(2)
                .replacingOccurrences(of: "( ", with: "(").replacingOccurrences(of: " )", with: ")")
            let isMember = declaration.hasPrefix("init") || declaration.hasPrefix("func")
            text +=
                isMember
                ? "| `\(declaration)` | \(comment) |\n"
                : "### StoreService\n\n`\(declaration)`: \(comment).\n\n| | |\n|---|---|\n"
            comment = ""
        }
        return text
    }

    @Test(.enabled(if: isLinux, "elsewhere the compiler writes some declarations differently"))
    func pageIsCurrent() throws {
        let own = try interface(of: "Vellum")
        let page = own.with(
            ["ArchiveKind", "Durability", "EvictionPolicy", "StorageError"],
            of: try interface(of: "StorageEngine")
        )
        .with(["CBORValue"], of: try interface(of: "CBOR"))
        let others = try ["VellumTesting", "VellumMetrics"].map { (name: $0, page: try interface(of: $0)) }
        #expect(([own] + others.map(\.page)).flatMap(\.undocumented) == [])
        let text =
            Self.introduction + page.sections()
            + others.map { "## Product \($0.name)\n\n" + $0.page.sections("###") }.joined()
            + "## Product VellumLifecycle\n\n" + (try serviceLifecycle())
        if ProcessInfo.processInfo.environment["VELLUM_RENEW_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: Self.page)
        }
        let isCurrent = try String(contentsOf: Self.page, encoding: .utf8) == text
        #expect(isCurrent, "VELLUM_RENEW_GOLDEN=1 rewrites the page")
    }
}

#if os(Linux)
private let isLinux = true
#else
private let isLinux = false
#endif
