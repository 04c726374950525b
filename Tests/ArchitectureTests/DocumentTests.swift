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
        #expect(cited.count > 8)
        for path in cited { #expect(exists(path) || exists("Sources/" + path), "\(path)") }
    }

    @Test("each module has a row") func modules() throws {
        let text = try read("Sources/ARCHITECTURE.md")
        for target in ManifestRules.declaredTargets(in: try SourceTree.ofThisPackage.get().manifest)
        where exists("Sources/" + target.name) {
            #expect(text.contains("| `\(target.name)` |"), "\(target.name)")
        }
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
