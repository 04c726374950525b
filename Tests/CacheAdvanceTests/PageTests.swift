import CacheAdvance
import Foundation
import TestSupport
import Testing

struct MyMessageType: Codable, Equatable {
    var text: String
}

/// The code blocks of the page and the article, unchanged. The page's Objective-C can't be compiled here, and its
/// installation is another package's.
@Suite struct PageTests {
    private func page() throws -> CacheAdvance<MyMessageType> {
        try? FileManager.default.removeItem(
            at: FileManager.default.temporaryDirectory.appendingPathComponent("MyCache"))
        #expect(throws: CocoaError.self, "the file must exist") {
            try CacheAdvance<MyMessageType>(
                file: FileManager.default.temporaryDirectory.appendingPathComponent("MyCache"),
                maximumBytes: 5000,
                shouldOverwriteOldMessages: false)
        }
        _ = FileManager.default.createFile(
            atPath: FileManager.default.temporaryDirectory.appendingPathComponent("MyCache").path,
            contents: nil)

        let myCache = try CacheAdvance<MyMessageType>(
            file: FileManager.default.temporaryDirectory.appendingPathComponent("MyCache"),
            maximumBytes: 5000,
            shouldOverwriteOldMessages: false)
        return myCache
    }

    @Test("the documented usage works") func usage() throws {
        let myCache = try page()
        let someMessage = MyMessageType(text: "hello")

        try myCache.append(message: someMessage)

        let cachedMessages = try myCache.messages()

        #expect(cachedMessages == [someMessage])

        do {
            try myCache.append(message: someMessage)
        } catch CacheAdvanceError.messageDataTooLarge {
            // It doesn't fit: neither now nor, where old messages are overwritten, ever.
        } catch CacheAdvanceError.fileCorrupted {
            try FileManager.default.removeItem(at: myCache.fileURL)
        }

        let file = try #require(try? FileManager.default.url(forEmptyFile: "compact"))
        let compact = try CacheAdvance<MyMessageType>(
            fileURL: file, maximumBytes: 5000, shouldOverwriteOldMessages: true,
            decoder: PropertyListDecoder(), encoder: PropertyListEncoder())
        try compact.append(message: someMessage)
        #expect(try compact.messages() == [someMessage])
        #expect(try myCache.messages().count == 2)
    }

    private struct Line: Codable {
        let text: String
    }

    /// The example in Assets/manual/Library.md.
    @Test("the manual's example works") func manualExample() throws {
        let url = try FileManager.default.url(forEmptyFile: "log")
        defer { try? FileManager.default.removeItem(at: url) }

        let log = try CacheAdvance<Line>(file: url, maximumBytes: 1_000_000, shouldOverwriteOldMessages: true)
        try log.append(message: Line(text: "ready"))  // stored on return, also after a kill -9
        print(try log.messages())  // the oldest first

        #expect(try log.messages().map(\.text) == ["ready"])
    }

    @Test("the article shows compiled code") func articleIsCompiled() throws {
        let code = try ArticleCode("Sources/CacheAdvance/CacheAdvance.docc/CacheAdvance.md")
        #expect(code.blocks == 5)
        for block in code.missing { Issue.record("not compiled here: \(block)") }
        let read = try ArticleCode("Assets/manual/Library.md", section: "A log in one file")
        #expect(read.blocks == 1)
        for block in read.missing { Issue.record("Library.md: not compiled here: \(block)") }
    }
}

extension FileManager {
    fileprivate func url(forEmptyFile name: String) throws -> URL {
        let url = temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString)")
        try Data().write(to: url)
        return url
    }
}
