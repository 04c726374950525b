import Foundation
import Testing
import Vellum

/// The usage page's types: one with its own encoding, and some with the library's.
@Suite struct ArchivableBlockTests {
    private struct NoUser: Error {}

    private enum ByHand {
        class User: Archivable {

            var primaryKey: String { userName }
            var userName: String = ""
            var fullName: String = ""
            var age: Int = 0

            func archive() throws -> Data {
                Data("\(userName)\n\(fullName)\n\(age)".utf8)
            }

            static func deArchive(fromData data: Data) throws -> Archivable {
                let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
                guard lines.count == 3, let age = Int(lines[2]) else { throw NoUser() }
                let user = User()
                (user.userName, user.fullName, user.age) = (String(lines[0]), String(lines[1]), age)
                return user
            }
        }
    }

    @Test func ownEncoding() throws {
        let store = TemporaryStore()
        let users = try store.factory().archives(for: ByHand.User.self)
        let ada = ByHand.User()
        (ada.userName, ada.fullName, ada.age) = ("ada", "Ada Lovelace", 36)
        users.record(ada)

        let read = try #require(
            try store.factory().archives(for: ByHand.User.self).access(archiveWithKey: "ada"))
        #expect(read.fullName == "Ada Lovelace" && read.age == 36)
        #expect(try users.core.archive.peek("ada") == Array("ada\nAda Lovelace\n36".utf8))
    }

    private enum ByLibrary {
        struct User: Codable, Archivable {
            var primaryKey: String { userName }
            var userName: String
            var fullName: String
            var age: Int
        }
    }

    private enum ByTypeAlias {
        struct User: ArchiveCodable {
            static var archiveTypeName: String { ByLibrary.User.archiveTypeName }
            var primaryKey: String { userName }
            var userName: String
            var fullName: String
            var age: Int
        }
    }

    @Test func codableType() throws {
        let store = TemporaryStore()
        try store.factory().archives(for: ByLibrary.User.self)
            .record(ByLibrary.User(userName: "ada", fullName: "Ada Lovelace", age: 36))
        // Both types have one archive, named after the type.
        let read = try store.factory().archives(for: ByTypeAlias.User.self).access(archiveWithKey: "ada")
        #expect(read?.userName == "ada" && read?.fullName == "Ada Lovelace" && read?.age == 36)
    }

    private struct OtherSpelling: Archivable {
        var primaryKey = "k"
        var number = 0

        func archiveData() throws -> Data { Data("\(number)".utf8) }

        static func decode(archive data: Data) throws -> Archivable {
            OtherSpelling(number: Int(String(decoding: data, as: UTF8.self)) ?? -1)
        }
    }

    @Test("callers may use either spelling of the coding") func bothSpellings() throws {
        let bytes = try OtherSpelling(number: 7).archive()
        #expect(bytes == Data("7".utf8))
        #expect((try OtherSpelling.deArchive(fromData: bytes) as? OtherSpelling)?.number == 7)

        let user = ByHand.User()
        user.userName = "ada"
        #expect(try user.archiveData() == user.archive())
        #expect(throws: NoUser.self) { try ByHand.User.decode(archive: Data()) }

        let codable = ByLibrary.User(userName: "ada", fullName: "", age: 1)
        #expect(try codable.archiveData() == codable.archive())
        #expect(
            (try ByLibrary.User.decode(archive: codable.archiveData()) as? ByLibrary.User)?.userName == "ada")

        let archives = try TemporaryStore().factory().archives(for: OtherSpelling.self)
        archives.record(OtherSpelling(number: 9))
        #expect(try archives.core.archive.peek("k") == Array("9".utf8))
    }

    private struct NoCoding: Archivable {
        var primaryKey = "k"
    }

    @Test("a type without a coding is refused") func noCoding() throws {
        let error = #expect(throws: ArchiveError.self) { try NoCoding().archive() }
        #expect("\(try #require(error))".contains("make it Codable"))
        #expect(throws: ArchiveError.self) { try NoCoding.decode(archive: Data()) }
    }
}
