import Foundation
import StorageEngine
import Testing

/// Without a free descriptor, operations fail or defer a segment. They don't treat it as missing.
@Suite(.oneAtATime) struct ScarceDescriptorTests {
    private func expectKept(_ archive: Archive, _ comment: String) throws {
        for number in 0..<10 {
            #expect(try archive.peek("keep \(number)") == [UInt8(number)], "\(comment): keep \(number)")
        }
        for key in Self.batched { #expect(try archive.peek(key) == [1, 2], "\(comment): \(key)") }
    }

    private static let batched = ["batched 0", "batched 1", "batched 2"]

    /// Small entries in the oldest segment, and larger ones behind.
    private func fill(_ folder: TemporaryFolder, large: Int) throws {
        let archive = try folder.archive(creating: .collection)
        for number in 0..<10 { try archive.put([UInt8(number)], forKey: "keep \(number)") }
        var batch = Batch()
        for key in Self.batched { batch.put([1, 2], forKey: key) }
        try archive.apply(batch)
        for number in 0..<large { try archive.put(repeated(7, 50_000), forKey: "large \(number)") }
        archive.close()
    }

    /// Fails the opening of a segment with this number during `body`; returns `false` if there were fewer.
    private func withoutDescriptor(
        _ folder: TemporaryFolder, number: Int, _ body: () throws -> Void
    ) rethrows -> Bool {
        let plan = FaultPlan(
            .fails(EMFILE), call: .open, under: folder.archivePath("A", "0000"), number: number,
            isLasting: false)
        try withFaults(plan, body: body)
        return plan.injected > 0
    }

    @Test("a rebuild leaves no segment out") func rebuild() throws {
        let folder = try TemporaryFolder(inMemory: true)
        try fill(folder, large: 8)
        for number in 1...100 {
            try folder.removeIndex("A")
            let isHit = withoutDescriptor(folder, number: number) { (try? folder.archive())?.close() }
            try folder.withArchive { archive in
                try expectKept(archive, "opening \(number)")
                #expect(try archive.entries().count == 21, "opening \(number)")
                #expect(try archive.check().clean, "opening \(number)")
            }
            if !isHit { return }
        }
        Issue.record("a rebuild opened more than 100 segments")
    }

    @Test("opens an archive whose lock a starting process still holds") func lockOfChild() throws {
        let folder = try TemporaryFolder(inMemory: true)
        try fill(folder, large: 1)
        try folder.removeIndex("A")
        let copy = open(folder.archivePath("A", "attached"), O_RDWR | O_CLOEXEC)
        try #require(flock(copy, LOCK_SH) == 0)
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.03)
            close(copy)
        }
        try expectKept(try folder.archive(), "opened")
    }

    @Test("a sync without a descriptor fails and can be repeated") func syncWithoutDescriptor() throws {
        for number in 1...40 {
            let folder = try TemporaryFolder(inMemory: true)
            try fill(folder, large: 8)
            let archive = try folder.archive()
            defer { archive.close() }
            let plan = FaultPlan(
                .fails(EMFILE), call: .open, under: folder.path, number: number, isLasting: false)
            let result = withFaults(plan) { Result { try archive.synchronize() } }
            if plan.injected > 0 {
                let error = try #require(#expect(throws: StorageError.self) { try result.get() })
                #expect(error.description.contains("ulimit -n"), "\(error)")
            }
            try archive.synchronize()
            try archive.put([1], forKey: "after")
            if plan.injected == 0 {
                #expect(number > 3)
                return
            }
        }
        Issue.record("a sync opened more than 40 files")
    }

    @Test("reclaiming drops no live entry") func reclaim() throws {
        for number in 1...100 {
            let folder = try TemporaryFolder(inMemory: true)
            try fill(folder, large: 40)
            let archive = try folder.archive()
            let isHit = withoutDescriptor(folder, number: number) {
                for number in 1..<40 { _ = try? archive.delete("large \(number)") }
                for number in 0..<5 { try? archive.put(repeated(8, 9000), forKey: "\(number)") }
            }
            try expectKept(archive, "opening \(number)")
            #expect(try archive.check().clean, "opening \(number)")
            archive.close()
            if !isHit { return }
        }
        Issue.record("reclaiming opened more than 100 segments")
    }
}
