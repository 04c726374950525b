import CacheAdvance
import Foundation
import TestSupport
import Testing

/// Synchronized ring files after a power loss.
@Suite(.serialized) struct RingFilePowerLossTests {
    /// Model of the medium of one file: the bytes of the last sync, any later blocks, and the old or the new length.
    /// Safe from any thread.
    private final class MediumOfFile: @unchecked Sendable {
        private let path: String
        private let lock = NSLock()
        /// Guarded by `lock`.
        private var durable = Data()
        private var syncs = 0

        init(_ path: String) { self.path = path }

        /// The ring file, whose syncs this model records.
        func ring(maximumBytes: UInt64) throws(RingFileError) -> RingFile {
            try RingFile(path, maximumBytes: maximumBytes, overwritesOldMessages: true) { [weak self] step in
                if step == .sync { self?.sync() }
            }
        }

        private func sync() {
            let now = present
            lock.withLock {
                durable = now
                syncs += 1
            }
        }

        var synced: Int { lock.withLock { syncs } }
        private var present: Data { (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data() }

        func cutPower(using random: inout SeededGenerator) -> Data {
            let (before, now) = (lock.withLock { durable }, present)
            let length = Bool.random(using: &random) ? before.count : now.count
            var image = before.prefix(length)
            if length > image.count { image += Data(count: length - image.count) }
            let block = Bool.random(using: &random) ? 4096 : 512
            let share = [0.0, 0.2, 0.5, 0.8, 1.0].randomElement(using: &random) ?? 0.5
            var start = 0
            while start < min(length, now.count) {
                let end = min(start + block, length, now.count)
                if Double.random(in: 0..<1, using: &random) < share {
                    image.replaceSubrange(start..<end, with: now[start..<end])
                }
                start = end
            }
            return image
        }
    }

    @Test("synchronized messages stay until they are overwritten", arguments: 0..<12)
    func synchronizedMessages(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed + 500)
        let folder = try Folder(inMemory: true)
        let (path, cut) = (folder.path + "/ring", folder.path + "/cut")
        try Data().write(to: URL(fileURLWithPath: path))
        let medium = MediumOfFile(path)
        let maximum: UInt64 = [9_000, 40_000, 200_000][Int(seed % 3)]
        let ring = try medium.ring(maximumBytes: maximum)
        var number = 0
        func append() throws {
            let text = "message \(number) "
            number += 1
            let filler = Int.random(in: 0...Int(maximum) / 60, using: &random)
            try ring.append(Array(text.utf8) + [UInt8](repeating: 0x41, count: filler))
        }
        try append()
        try ring.synchronize()
        var lostAll = 0
        for _ in 0..<60 {
            for _ in 0..<Int.random(in: 1...30, using: &random) { try append() }
            try ring.synchronize()
            let promised = try ring.messages()
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                try append()
                let present = Set(try ring.messages())
                let expected = promised.filter { present.contains($0) }
                try medium.cutPower(using: &random).write(to: URL(fileURLWithPath: cut))
                let left = try RingFile(path: cut, maximumBytes: maximum, overwritesOldMessages: true)
                var read: [[UInt8]] = []
                do {
                    try left.forEachMessage { read.append($0) }
                } catch {
                    guard case RingFileError.damaged = error else { throw error }
                }
                if read.isEmpty { lostAll += 1 }
                let first = expected.first.flatMap { read.firstIndex(of: $0) }
                #expect(
                    expected.isEmpty || first.map { read.dropFirst($0).starts(with: expected) } ?? false,
                    "message \(number): \(read.count) of \(expected.count)")
            }
        }
        #expect(lostAll == 0)
        // Not one sync per message.
        #expect(medium.synced < 61 + number / 2)
    }

    @Test("doesn't sync unless asked") func noSync() throws {
        let folder = try Folder(inMemory: true)
        let path = folder.path + "/ring"
        try Data().write(to: URL(fileURLWithPath: path))
        let medium = MediumOfFile(path)
        let ring = try medium.ring(maximumBytes: 64 + 100 * 14)
        for number in 0..<1_000 { try ring.append(Array("number \(100 + number % 900)".utf8)) }
        #expect(medium.synced == 0)
        #expect(try ring.messages().count >= 99)
    }
}
