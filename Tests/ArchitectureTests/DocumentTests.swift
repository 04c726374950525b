import Foundation
import Testing

/// Checks that the files named by `Sources/ARCHITECTURE.md`, `README.md` and the manual exist.
@Suite struct DocumentTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func read(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: Self.root.appending(path: path).path)
    }

    @Test("source files in the architecture exist") func sourceFiles() throws {
        let names = Set(
            try SourceTree.ofThisPackage.get().files.map { ($0.path as NSString).lastPathComponent })
        let cited = try read("Sources/ARCHITECTURE.md").matches(of: /[A-Za-z+…]+\.swift\b/)
            .map { String($0.output) }.filter { !$0.contains("…") }
        #expect(cited.count > 40)
        for name in cited { #expect(names.contains(name), "\(name)") }
    }

    @Test("folders in the architecture exist") func folders() throws {
        let pattern =
            /`((?:StorageEngine|CBOR|TerminalKit|TerminalCurses|BrowserCore|VellumCommand|Tests|Assets)\/[^`…]+)`/
        let cited = try read("Sources/ARCHITECTURE.md").matches(of: pattern).map { String($0.output.1) }
        #expect(cited.count > 5)
        for path in cited { #expect(exists(path) || exists("Sources/" + path), "\(path)") }
    }

    @Test("the architecture has at most 2,000 words") func length() throws {
        let words = try read("Sources/ARCHITECTURE.md").split(whereSeparator: \.isWhitespace)
        #expect(words.count <= 2000)
    }

    @Test("each module has a row with its allowed imports") func modules() throws {
        let rows = try read("Sources/ARCHITECTURE.md").split(separator: "\n")
        let allowed = ModuleTable.vellum.allowed
        let all = Set(allowed.keys).subtracting(["VellumCommand"])
        for (module, imports) in allowed {
            let row = try #require(rows.first { $0.hasPrefix("| `\(module)` |") }, "\(module)")
            let cell = try #require(row.split(separator: "|").dropFirst(2).first)
            let named = names(in: cell)
            #expect((cell.contains("all but") ? all.subtracting(named) : named) == imports, "\(module)")
        }
    }

    @Test("the folders of a module with more than six are listed") func foldersOfModules() throws {
        let text = try read("Sources/ARCHITECTURE.md")
        for module in ModuleTable.vellum.allowed.keys {
            let names = try FileManager.default.contentsOfDirectory(
                atPath: Self.root.appending(path: "Sources/\(module)").path)
            let folders = Set(names.filter { !$0.contains(".") })
            guard folders.count > 6 else { continue }
            let start = try #require(text.range(of: "| `\(module)/` |"), "\(module)").upperBound
            let table = text[start...].prefix { $0 != "#" }.components(separatedBy: "\n\n")[0]
            let cells = table.split(separator: "\n").compactMap { $0.split(separator: "|").first }
            #expect(Set(cells.dropFirst().flatMap(self.names)) == folders, "\(module)")
        }
    }

    private func names(in cell: Substring) -> Set<String> {
        Set(cell.matches(of: /`(\w+)`/).map { String($0.output.1) })
    }

    @Test("linked files exist") func links() throws {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: Self.root.appending(path: "Assets/manual").path)
        let pages = ["README.md"] + names.filter { $0.hasSuffix(".md") }.map { "Assets/manual/\($0)" }
        #expect(pages.count >= 10)
        for page in pages {
            let links = try read(page).matches(of: /\]\(([^)\s:#]+)[^)\s:]*\)|(?:src|srcset)="([^"]+)"/)
            #expect(!links.isEmpty, "\(page)")
            for link in links {
                let target = String(link.output.1 ?? link.output.2 ?? "")
                let path = (page as NSString).deletingLastPathComponent + "/" + target
                #expect(exists(path), "\(page): \(target)")
            }
        }
    }
}
