import Foundation
import StorageEngine
import Testing

/// On tmpfs a page of a hole takes room when it is read, so whoever still had more of an index in view than there was
/// after its blocks had been given back was ended by SIGBUS once the file system was full.
@Suite struct TmpfsTests {
    private func allocated(_ path: String) -> (blocks: Int, bytes: Int) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return (0, 0) }
        return (Int(facts.st_blocks) * 512, Int(facts.st_size))
    }

    @Test(.enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "needs a tmpfs"))
    func indexThatIsOpenGetsNoHoles() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        let archive = try store.archive(named: "A", orCreate: ArchiveConfiguration(diskLimit: 100_000))
        for number in 0..<20_000 { try archive.put([1], forKey: "key \(number)") }
        let index = folder.archivePath("A", "index")
        #expect(allocated(index).bytes > 1_500_000)
        for number in 0..<20_000 { try archive.delete("key \(number)") }
        try archive.put([1], forKey: "last")
        let (blocks, bytes) = allocated(index)
        #expect(blocks >= bytes)
        store.close()
        // The last who leaves gives it back.
        #expect(allocated(index).blocks < blocks / 2)
        let again = try Store.open(at: folder.store)
        let archiveAgain = try again.archive(named: "A")
        #expect(try archiveAgain.peek("last") == [1])
        #expect(try archiveAgain.check().clean)
        #expect(try archiveAgain.entries().first?.hits == 0)
        again.close()
    }
}
