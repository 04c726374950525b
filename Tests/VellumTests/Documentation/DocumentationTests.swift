import Foundation
import Testing
import Vellum

/// The code in the documents is compiled.
@Suite struct DocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func read(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    private func blocks(_ document: String) throws -> [String] {
        try read(document).matches(of: /(?s)```swift\n(.*?)```/).map { String($0.output.1) }
    }

    /// Lines without indentation: a document's statement may be in a function here.
    private func lines(_ code: some StringProtocol) -> String {
        code.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    @Test("the tutorial's code is that of the example package") func tutorial() throws {
        let folder = "Tests/ExampleApp/"
        let package = try read(folder + "Package.swift").replacingOccurrences(
            of: "../..", with: "PATH/TO/vellum")
        let files = [
            package, try read(folder + "Sources/City.swift"), try read(folder + "Sources/Cities.swift"),
        ]
        #expect(try blocks("Sources/Vellum/Vellum.docc/FromAnEmptyPackage.md") == files)
    }

    @Test(arguments: [
        ("Vellum", 1), ("TwoTiers", 5), ("AskingForObjects", 3), ("ChangingObjects", 10),
        ("WhenTypesChange", 2), ("TestingPrograms", 3), ("RunningInServers", 1),
    ])
    func articlesAreCompiled(name: String, count: Int) throws {
        let compiled = try ["ArticleExamples", "ProductExamples"].map {
            lines(try read("Tests/VellumTests/Documentation/\($0).swift"))
        }.joined()
        let blocks = try blocks("Sources/Vellum/Vellum.docc/\(name).md")
        #expect(blocks.count == count)
        for block in blocks {
            for paragraph in lines(block).split(separator: "\n\n") {
                #expect(compiled.contains(paragraph.trimmingCharacters(in: .newlines) + "\n"), "\(paragraph)")
            }
        }
    }

    /// The articles' code needs no import but `Vellum`, also with the compiler's feature for the visibility of members.
    @Test(
        .enabled(if: Compiler.shared != nil, "needs the compiler and the built module"),
        arguments: [
            [], ["-enable-upcoming-feature", "MemberImportVisibility"],
        ])
    func articlesNeedOneImport(options: [String]) throws {
        let articles = try read("Tests/VellumTests/Documentation/ArticleExamples.swift")
        #expect(articles.split(separator: "\n").filter { $0.hasPrefix("import ") } == ["import Vellum"])
        let compiler = try #require(Compiler.shared)
        #expect(try compiler.check(articles, options: options) == "")
        let user = "import Vellum\n" + Self.ownCoding + Self.errors
        #expect(try compiler.check(user, options: options) == "")
    }

    private static let ownCoding = """
        final class User: Archivable {
            var primaryKey: String { userName }
            var userName: String = ""
            func archive() throws -> Data { Data(userName.utf8) }
            static func deArchive(fromData data: Data) throws -> Archivable {
                let user = User()
                user.userName = String(decoding: data, as: UTF8.self)
                return user
            }
        }

        """

    private static let errors = """
        func failure(_ users: ArchiveManager<User>) -> String? {
            do {
                try users.throwing.record(User())
                return nil
            } catch let error as StorageError {
                return error.description
            } catch {
                return "\\(error)"
            }
        }
        func settings() -> (Durability, ArchiveKind, ArchivedValue) { (.full, .collection, .text("x")) }
        func last(_ users: ArchiveManager<User>) -> Double? {
            users.latestAccessedTime(for: "ada")?.timeIntervalSince1970
        }

        """

    @Test("each page is linked from the landing page, and each link has a target") func links() throws {
        let folder = Self.root.appending(path: "Sources/Vellum/Vellum.docc")
        let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path).map {
            String($0.prefix { $0 != "." })
        }
        let landing = try read("Sources/Vellum/Vellum.docc/Vellum.md")
        let sources = try FileManager.default.subpathsOfDirectory(
            atPath: Self.root.appending(path: "Sources/Vellum").path
        ).filter { $0.hasSuffix(".swift") }.map { try read("Sources/Vellum/" + $0) }.joined()
        for page in pages {
            #expect(page == "Vellum" || landing.contains("- <doc:\(page)>"), "\(page)")
            let text = try read("Sources/Vellum/Vellum.docc/\(page).md")
            for link in text.matches(of: /<doc:(\w+)>/) { #expect(pages.contains(String(link.output.1))) }
            for symbol in text.matches(of: /``(\w+)[\/`]/) where symbol.output.1 != "Vellum" {
                let declared = sources.contains(
                    try Regex("public (final )?(struct|class|enum|protocol|typealias) \(symbol.output.1)\\b"))
                #expect(declared, "\(page): \(symbol.output.1)")
            }
        }
    }

    @Test(arguments: [
        ("README.md", "ReadmeExample.swift"), ("Assets/manual/Library.md", "ManualExample.swift"),
    ])
    func examplesAreCompiled(page: String, file: String) throws {
        let source = try read("Tests/VellumTests/Documentation/\(file)")
        let code = source.drop { $0 != "\n" }.dropFirst()
        #expect(code.hasPrefix("import Vellum\n"))
        #expect(try read(page).contains("```swift\n\(code)```\n"))
    }

    @Test("the examples store, find and change the user") func examplesRun() async {
        await #expect(processExitsWith: .success) {
            let store = TemporaryStore()
            setenv("VELLUM_STORE", store.path, 1)
            try keepUsers()
            let users = try ArchivesFactory.shared.archives(for: User.self)
            #expect(users.accessAll().map(\.userName) == ["ada"])
            #expect(try findAdults().map(\.userName) == ["ada"])
            Screen().rename()
            #expect(users.access(archiveWithKey: "ada")?.fullName == "Ada King")
        }
    }
}
