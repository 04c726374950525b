import Foundation
import StorageEngine
import Testing

/// R11, R14: keys that collide because their author knows the secret.
@Suite(.serialized) struct CraftedKeyTests {
    @Test("finds every key of a long chain") func longChain() throws {
        // One bucket for all keys; their other bits differ.
        try KeyHash.$maskInTests.withValue(~0xffff) {
            let folder = try TemporaryFolder(inMemory: true)
            let archive = try Store.open(at: folder.store).archive(
                named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
            let count = 4_600
            for number in 0..<count { try archive.put([UInt8(number & 255)], forKey: "k\(number)") }
            for number in 0..<count {
                try #require(try archive.peek("k\(number)") == [UInt8(number & 255)], "\(number)")
            }
            #expect(try archive.peek("none") == nil)
            #expect(try archive.check().clean)
            for number in stride(from: 0, to: count, by: 50) { #expect(try archive.delete("k\(number)")) }
            #expect(try archive.entries().count == count - 92)
            #expect(try archive.invariantViolations() == [])
        }
    }

    @Test("a rebuilt index has another salt") func newSalt() throws {
        let folder = try TemporaryFolder(inMemory: true)
        var salts: Set<[UInt8]> = []
        for round in 0..<3 {
            let archive = try Store.open(at: folder.store).archive(
                named: "A", orCreate: ArchiveConfiguration())
            try archive.put([1], forKey: "k\(round)")
            for earlier in 0...round { #expect(try archive.peek("k\(earlier)") == [1]) }
            archive.close()
            let index = try Data(contentsOf: URL(fileURLWithPath: folder.archivePath("A", "index")))
            salts.insert(Array(index[888..<896]))
            try folder.removeIndex("A")
        }
        #expect(salts.count == 3)
    }
}
