import Foundation
import StorageEngine
import Testing

/// On tmpfs, reading a hole allocates a page: on a full file system, readers of an index with holes would get SIGBUS.
@Suite struct TmpfsTests {
    private func allocated(_ path: String) -> (blocks: Int, bytes: Int) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return (0, 0) }
        return (Int(facts.st_blocks) * 512, Int(facts.st_size))
    }

    @Test(
        "an open index gets no holes on tmpfs",
        .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "needs a tmpfs"))
    func openIndexGetsNoHoles() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .cache(100_000))
        for number in 0..<20_000 { try archive.put([1], forKey: "key \(number)") }
        let index = folder.archivePath("A", "index")
        #expect(allocated(index).bytes > 1_500_000)
        for number in 0..<20_000 { try archive.delete("key \(number)") }
        try archive.put([1], forKey: "last")
        let (blocks, bytes) = allocated(index)
        #expect(blocks >= bytes)
        archive.close()
        // The last process to close it releases the space.
        #expect(allocated(index).blocks < blocks / 2)
        let archiveAgain = try folder.archive()
        #expect(try archiveAgain.peek("last") == [1])
        #expect(try archiveAgain.check().clean)
        #expect(try archiveAgain.entries().first?.hits == 0)
        archiveAgain.close()
    }
}
