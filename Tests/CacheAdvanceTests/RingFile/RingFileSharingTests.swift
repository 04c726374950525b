import CPlatform
import CacheAdvance
import Foundation
import Synchronization
import TestSupport
import Testing

/// Ring files with concurrent readers, and damaged ones.
@Suite(.serialized) struct RingFileSharingTests {
    /// An overwriting ring file of messages that `StoreWorker readRing` knows.
    private final class NumberedRing {
        let folder: Folder
        let path: String
        let ring: RingFile
        private(set) var next: UInt64 = 0

        init(maximumBytes: UInt64, _ folder: Folder) throws {
            self.folder = folder
            path = folder.path + "/ring"
            try Data().write(to: URL(fileURLWithPath: path))
            ring = try RingFile(path: path, maximumBytes: maximumBytes, overwritesOldMessages: true)
        }

        static func message(_ number: UInt64, bytes: Int) -> [UInt8] {
            withUnsafeBytes(of: number.bigEndian) { Array($0) }
                + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes - 8)
        }

        func append(bytes: Int = 100) throws {
            try ring.append(NumberedRing.message(next, bytes: bytes))
            next += 1
        }

        func readers(_ count: Int) throws -> [Reader] {
            let readers = try (0..<count).map { try Reader(path, output: "\(folder.path)/output-\($0)") }
            for reader in readers {
                // Without suspension, after which the test might wait long for a thread: the readers use all processors.
                #expect(holds(within: 300) { reader.text.hasPrefix("reading\n") })
            }
            return readers
        }
    }

    /// A process that reads the ring until it is killed.
    private struct Reader {
        let process: ChildProcess
        private let output: String

        init(_ path: String, output: String) throws {
            self.output = output
            process = try ChildProcess(
                ChildProcess.program(named: "StoreWorker"), ["readRing", path], streams: [1: .writing(output)]
            )
        }

        var text: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }
    }

    private func end(_ readers: [Reader]) {
        for reader in readers {
            reader.process.signal(SIGKILL)
            reader.process.waitForEnd()
            #expect(reader.text == "reading\n")
        }
    }

    @Test("constant readers don't prevent appends") func constantReaders() throws {
        let numbered = try NumberedRing(maximumBytes: 300_000, Folder(inMemory: true))
        for _ in 0..<200 { try numbered.append(bytes: 5_000) }
        let readers = try numbered.readers(4)
        for _ in 0..<100 { try numbered.append(bytes: 5_000) }
        #expect(try numbered.ring.messages().last == NumberedRing.message(299, bytes: 5_000))
        end(readers)
    }

    @Test("a stopped reader doesn't prevent appends") func stoppedReader() async throws {
        let numbered = try NumberedRing(maximumBytes: 25_000, Folder(inMemory: true))
        for _ in 0..<25 { try numbered.append(bytes: 5_000) }
        let readers = try numbered.readers(1)
        for _ in 0..<4 {
            #expect(try await readers[0].process.stop())
            // Overwrites the whole ring, which the reader must notice. Each append waits for a moment.
            for _ in 0..<6 { try numbered.append(bytes: 5_000) }
            readers[0].process.signal(SIGCONT)
        }
        end(readers)
    }

    #if os(Linux)
    /// Holds the byte that the format defines for readers.
    @Test("a reader's lock delays appends for a bounded time") func readersLock() throws {
        let numbered = try NumberedRing(maximumBytes: 1_000, Folder(inMemory: true))
        let stopped = open(numbered.path, O_RDONLY | O_CLOEXEC)
        defer { close(stopped) }
        #expect(cp_share_byte(stopped, 1 << 62 + 1) == 0)
        for _ in 0..<10 { try numbered.append() }
        // Other readers aren't blocked, and no append is reported.
        #expect(try numbered.ring.messages().last == NumberedRing.message(9, bytes: 100))
        #expect(cp_byte_lock_is_held(stopped, 1 << 62) == 0)
    }
    #endif

    @Test("readers get whole messages in order and detect losses") func wholeMessages() async throws {
        let folder = try Folder(inMemory: true)
        let path = folder.path + "/ring"
        try Data().write(to: URL(fileURLWithPath: path))
        let isDone = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let writer = try RingFile(path: path, maximumBytes: 20_000, overwritesOldMessages: true)
            try writer.append(NumberedRing.message(0, bytes: 60))
            group.addTask {
                defer { isDone.set() }
                for number in 1..<6_000 as Range<UInt64> {
                    try writer.append(NumberedRing.message(number, bytes: 60))
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    let ring = try RingFile(
                        path: path, maximumBytes: 0, overwritesOldMessages: false, isReadOnly: true)
                    var cursor = RingFileCursor()
                    // `nil`: no message seen yet.
                    var expected: UInt64?
                    var isLast = false
                    while !isLast {
                        isLast = isDone.isSet
                        let news = try ring.news(after: cursor)
                        cursor = news.next
                        for message in news.messages {
                            let number = message.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                            #expect(message == NumberedRing.message(number, bytes: 60))
                            if let expected, number != expected {
                                #expect(number > expected && news.someMayBeLost)
                            }
                            expected = number + 1
                        }
                        let all = try ring.messages().map {
                            $0.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                        }
                        #expect(zip(all, all[0]...).allSatisfy { $0 == $1 })
                        // The last message is that of the beginning of the read, or a later one.
                        #expect(all.last.map { $0 + 1 >= expected ?? 0 } == true)
                        #expect(try ring.outline().messages > 0)
                        let last = try ring.news(after: ring.cursor(beforeLast: 5))
                        #expect(!last.messages.isEmpty)
                    }
                    #expect(expected == 6_000)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("messages of any size are read whole") func messageSizes() async throws {
        let folder = try Folder(inMemory: true)
        let path = folder.path + "/ring"
        try Data().write(to: URL(fileURLWithPath: path))
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { isOver.set() }
                let ring = try RingFile(path: path, maximumBytes: 2_000, overwritesOldMessages: true)
                var generator = SystemRandomNumberGenerator()
                for number in 0..<20_000 as Range<UInt64> {
                    try ring.append(
                        NumberedRing.message(number, bytes: .random(in: 8...1_000, using: &generator)))
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    let ring = try RingFile(path: path, maximumBytes: 2_000, overwritesOldMessages: true)
                    var cursor = RingFileCursor()
                    while !isOver.isSet {
                        let news = try ring.news(after: cursor)
                        #expect(news.damage == nil)
                        cursor = news.next
                        _ = try ring.outline()
                        for message in try ring.messages() + news.messages {
                            let filler = message[min(7, message.count - 1)]
                            #expect(message.count >= 8 && message.dropFirst(8).allSatisfy { $0 == filler })
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("reads messages before damage and appends none after it") func tornLength() throws {
        let numbered = try NumberedRing(maximumBytes: 1_000_000, Folder(inMemory: true))
        for _ in 0..<1_100 { try numbered.append() }
        let place = 64 + 1_000 * 104
        var content = try Data(contentsOf: URL(fileURLWithPath: numbered.path))
        content.replaceSubrange(place..<place + 4, with: [0, 0, 0, 0])
        try content.write(to: URL(fileURLWithPath: numbered.path))
        let ring = try RingFile(path: numbered.path, maximumBytes: 1_000_000, overwritesOldMessages: true)
        let reason = "a message of 0 bytes, but only 10396 bytes remain; 1000 messages before it were read"
        let damage = RingFileError.damaged(path: numbered.path, offset: place, reason: reason)
        #expect(throws: damage) { try ring.messages() }
        #expect(throws: damage) { try ring.outline() }
        #expect(throws: damage) { try ring.append([1]) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: numbered.path)) == content)
        #expect(
            damage.description.contains("start a new file") && !damage.description.contains("run a check"))
        var read = 0
        #expect(throws: damage) { try ring.forEachMessage { _ in read += 1 } }
        #expect(read == 1_000)
        let news = try ring.news(after: RingFileCursor())
        #expect(news.messages.count == 1_000 && news.damage == damage)
        #expect(throws: RingFileError.self) { try ring.news(after: news.next) }
        let last = try ring.news(after: ring.cursor(beforeLast: 10))
        #expect(last.messages == (990..<1_000).map { NumberedRing.message($0, bytes: 100) })
        #expect(last.damage != nil)
    }

    @Test("a hole isn't a message") func hole() throws {
        let folder = try Folder()
        let path = folder.path + "/ring"
        func word(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        let end: UInt64 = 64 + 4 + 0x7fff_0000
        var content: [UInt8] = [1] + word(1 << 36) + [1] + word(64) + word(end)
        content += [UInt8](repeating: 0, count: 64 - content.count) + [0x7f, 0xff, 0, 0]
        try Data(content).write(to: URL(fileURLWithPath: path))
        try #require(truncate(path, off_t(end)) == 0)
        let ring = try RingFile(path: path, maximumBytes: 1 << 36, overwritesOldMessages: true)
        for body in [
            { _ = try ring.outline() }, { _ = try ring.messages() }, { try ring.append([1]) },
            { _ = try ring.news(after: RingFileCursor()) },
        ] as [() throws -> Void] {
            #expect {
                try body()
            } throws: {
                guard case RingFileError.damaged(_, 64, let reason) = $0 else { return false }
                return reason.contains("of which the file has")
            }
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }
}
