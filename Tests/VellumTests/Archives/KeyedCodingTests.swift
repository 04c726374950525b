import Foundation
import Testing
import Vellum

@Suite struct KeyedCodingTests {
    private let store = TemporaryStore()

    /// Bytes in a foreign format, under a key.
    private struct Picture: Archivable, Equatable {
        var primaryKey: String
        var pixels: [UInt8]

        func archive() throws -> Data { Data(pixels) }
        static func deArchive(fromData data: Data, forKey key: String) throws -> Archivable {
            Picture(primaryKey: key, pixels: [UInt8](data))
        }
    }

    /// The key isn't encoded.
    private struct Page: ArchiveCodable, Equatable {
        enum CodingKeys: CodingKey { case title, words }
        var primaryKey = ""
        var title: String
        var words: Int

        static func deArchive(fromData data: Data, forKey key: String) throws -> Archivable {
            guard var page = try deArchive(fromData: data) as? Page else {
                throw CocoaError(.coderInvalidValue)
            }
            page.primaryKey = key
            return page
        }
    }

    @Test("decoding gets the key that the bytes don't contain") func bytesWithoutAKey() throws {
        let pictures = try store.factory().archives(for: Picture.self)
        let logo = Picture(primaryKey: "logo", pixels: [1, 2, 3])
        pictures.record(logo)
        #expect(try pictures.core.archive.peek("logo") == [1, 2, 3])
        let elsewhere = try store.factory().archives(for: Picture.self)
        #expect(elsewhere.access(archiveWithKey: "logo") == logo)
        #expect(elsewhere.accessAll() == [logo])
        let found = try elsewhere.transaction { try $0.access(archiveWithKey: "logo") }
        #expect(found == logo)
    }

    @Test("a Codable type may leave its key out of its encoding") func keyOutsideTheEncoding() async throws {
        let pages = try store.factory().archives(for: Page.self)
        let home = Page(primaryKey: "/", title: "Home", words: 7)
        pages.record(home)
        let elsewhere = try store.factory().archives(for: Page.self)
        #expect(elsewhere.access(archiveWithKey: "/") == home)
        #expect(elsewhere.where(\.words == 7).getResults() == [home])
        #expect(try await elsewhere.asynchronous.where(\.title == "Home").getResults() == [home])
        #expect(try elsewhere.modify(archiveWithKey: "/") { $0.words += 1 }?.primaryKey == "/")
        let explanation = try elsewhere.throwing.where(\.words == 7).explain()
        #expect(explanation.encoded == nil && explanation.reason?.contains("its own coding") == true)
    }

    @Test("the library's encoding needs no key") func libraryCoding() throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(Note("a", "x"))
        #expect(try notes.throwing.where(\.text == "x").explain().encoded != nil)
        let bytes = try KeyedValue("x", forKey: "a").archive()
        let value = try KeyedValue<String>.deArchive(fromData: bytes, forKey: "b") as? KeyedValue<String>
        #expect(value == KeyedValue("x", forKey: "b"))
    }
}
