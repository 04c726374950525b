import Foundation
import StorageEngine
import Testing

@Suite struct ManualExampleTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test("the manual shows the compiled example") func exampleText() throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "Assets/manual/Library.md"), encoding: .utf8)
        let source = try String(
            contentsOf: Self.root.appending(path: "Tests/StorageEngineTests/ManualExample.swift"),
            encoding: .utf8)
        let code = source.drop { $0 != "\n" }.dropFirst()
        #expect(code.hasPrefix("import StorageEngine\n"))
        #expect(page.contains("```swift\n\(code)```\n"))
    }

    @Test("the example has the documented effects") func exampleResult() throws {
        let folder = try TemporaryFolder()
        try example(in: folder.store)
        let status = try folder.archive("Pages", mode: .readOnly).status()
        #expect(status.hits == 1)
        #expect(status.rejections == 1)
        #expect(status.entries == 0)
        #expect(status.configuration.diskLimit == 10_000_000)
    }
}
