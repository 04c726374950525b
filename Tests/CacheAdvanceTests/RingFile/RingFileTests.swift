import CacheAdvance
import Foundation
import Synchronization
import TestSupport
import Testing

/// Ring files against an independent reader and a model of the remaining messages.
@Suite(.serialized) struct RingFileTests {
    private func file(_ folder: Folder, _ name: String = "ring", _ content: [UInt8] = []) throws
        -> String
    {
        let path = folder.path + "/" + name
        try Data(content).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Messages of a file, read by the format's description; `nil` if it is invalid.
    private func plainly(_ file: [UInt8]) -> [[UInt8]]? {
        guard !file.isEmpty else { return [] }
        guard file.count >= 64, file[0] == 1, file[9] < 2 else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            Int(exactly: file[range].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
        guard var place = number(10..<18), let end = number(18..<26), place >= 64, end >= 64,
            place <= file.count,
            end <= file.count
        else { return nil }
        var messages: [[UInt8]] = []
        var mayTurn = place > end
        while place != end {
            if mayTurn, place == file.count {
                mayTurn = false
                place = 64
                continue
            }
            let limit = mayTurn ? file.count : end
            guard place + 4 <= limit, let length = number(place..<place + 4), length > 0,
                length <= limit - place - 4
            else { return nil }
            messages.append(Array(file[place + 4..<place + 4 + length]))
            place += 4 + length
        }
        return messages
    }

    @Test("writes the documented bytes") func documentedBytes() throws {
        let folder = try Folder()
        let path = try file(folder)
        let ring = try RingFile(path: path, maximumBytes: 84, overwritesOldMessages: true)
        #expect(try ring.isEmpty())
        #expect(try ring.isWritable())
        try ring.append([7, 8, 9])
        let head: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0, 84, 1]
        func header(_ oldest: UInt8, _ end: UInt8) -> [UInt8] {
            head + [0, 0, 0, 0, 0, 0, 0, oldest, 0, 0, 0, 0, 0, 0, 0, end] + [UInt8](repeating: 0, count: 38)
        }
        #expect(try bytes(path) == header(64, 71) + [0, 0, 0, 3, 7, 8, 9])
        try ring.append([1])
        try ring.append([2])
        #expect(try bytes(path) == header(64, 81) + [0, 0, 0, 3, 7, 8, 9, 0, 0, 0, 1, 1, 0, 0, 0, 1, 2])
        // Continues at the beginning; the file ends after the formerly newest message.
        try ring.append([3])
        #expect(try bytes(path) == header(71, 69) + [0, 0, 0, 1, 3, 8, 9, 0, 0, 0, 1, 1, 0, 0, 0, 1, 2])
        #expect(try ring.messages() == [[1], [2], [3]])
        // Its end would reach or pass the oldest message.
        try ring.append([4])
        #expect(try bytes(path) == header(76, 74) + [0, 0, 0, 1, 3, 0, 0, 0, 1, 4, 1, 1, 0, 0, 0, 1, 2])
        try ring.append([UInt8](repeating: 5, count: 16))
        #expect(try ring.messages() == [[UInt8](repeating: 5, count: 16)])
        #expect(throws: RingFileError.messageTooLarge(bytes: 17, limit: 16, path: path)) {
            try ring.append([UInt8](repeating: 6, count: 17))
        }
        #expect(try ring.messages().count == 1)
    }

    @Test("a file that doesn't overwrite fills up") func fullFile() throws {
        let folder = try Folder()
        let path = try file(folder)
        let ring = try RingFile(path: path, maximumBytes: 80, overwritesOldMessages: false)
        try ring.append([1, 2])
        #expect(throws: RingFileError.messageTooLarge(bytes: 7, limit: 6, path: path)) {
            try ring.append([UInt8](repeating: 1, count: 7))
        }
        try ring.append([UInt8](repeating: 3, count: 6))
        #expect(try ring.messages() == [[1, 2], [UInt8](repeating: 3, count: 6)])
        #expect(throws: RingFileError.self) { try ring.append([1]) }
        #expect(throws: RingFileError.self) { try ring.append([]) }
        #expect(try bytes(path).count == 80)
        // Other settings permit reading only.
        for (maximum, overwrites) in [(81, false), (80, true)] as [(UInt64, Bool)] {
            let other = try RingFile(path: path, maximumBytes: maximum, overwritesOldMessages: overwrites)
            #expect(try other.messages().count == 2)
            #expect(try !other.isWritable())
            let error = #expect(throws: RingFileError.self) { try other.append([1]) }
            if case .otherSettings(path, let settings)? = error {
                #expect(settings.maximumBytes == 80 && !settings.overwritesOldMessages)
            } else {
                Issue.record("\(String(describing: error))")
            }
        }
        let reader = try RingFile(
            path: path, maximumBytes: 80, overwritesOldMessages: false, isReadOnly: true)
        #expect(try !reader.isWritable())
        #expect(throws: RingFileError.self) { try reader.append([1]) }
        #expect(throws: RingFileError.self) {
            try RingFile(path: folder.path + "/none", maximumBytes: 80, overwritesOldMessages: true)
        }
        #expect(throws: RingFileError.self) {
            try RingFile(path: folder.path, maximumBytes: 80, overwritesOldMessages: true)
        }
    }

    @Test("keeps the newest messages, whatever their sizes", arguments: 0..<40)
    func newestMessages(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try Folder(inMemory: true)
        let path = try file(folder)
        let maximum = UInt64.random(in: 70...(seed % 4 == 0 ? 5_000 : 300), using: &random)
        let ring = try RingFile(path: path, maximumBytes: maximum, overwritesOldMessages: true)
        var all: [[UInt8]] = []
        var most = 0
        for number in 0..<150 {
            let size = Int.random(in: 1...max(1, Int(maximum - 68) / (seed % 3 == 0 ? 1 : 3)), using: &random)
            let message = (0..<size).map { UInt8(truncatingIfNeeded: number &+ $0) }
            try ring.append(message)
            all.append(message)
            let content = try bytes(path)
            let kept = try ring.messages()
            #expect(kept == plainly(content))
            #expect(!kept.isEmpty && kept == Array(all.suffix(kept.count)))
            #expect(content.count <= Int(maximum))
            most = max(most, kept.count)
            // Another object of the same file sees the same.
            if number % 50 == 0 {
                let other = try RingFile(path: path, maximumBytes: 64, overwritesOldMessages: false)
                #expect(try other.messages() == kept)
            }
        }
        #expect(seed % 3 == 0 || most > 1)
    }

    @Test("a file opens after an append was interrupted anywhere", arguments: 0..<30)
    func interruptedAppends(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed + 100)
        let folder = try Folder(inMemory: true)
        let path = try file(folder)
        var images: [[UInt8]: [[UInt8]]] = [:]
        for number in 0..<60 {
            let before = try bytes(path)
            let most = seed % 2 == 0 ? 132 : 40
            let message = [UInt8](
                repeating: UInt8(number + 1), count: Int.random(in: 1...most, using: &random))
            try leaveHalfDone(message, before, in: folder, path, &images)
        }
        try expect(images, in: folder)
    }

    /// Lets some writes and truncations pass, and fails all later ones.
    private final class WriteFault: Sendable {
        private let passes: Atomic<Int>

        init(after passes: Int) { self.passes = Atomic(passes) }

        func perform(_ step: RingFileStep) throws(RingFileError) {
            guard passes.subtract(1, ordering: .relaxed).oldValue <= 0 else { return }
            throw .system(operation: "\(step)", path: "ring", code: EIO)
        }

        func end() { passes.store(.max, ordering: .relaxed) }
    }

    /// Repeats the append with a failure of the first write or cut, the second and so on, until it succeeds.
    private func leaveHalfDone(
        _ message: [UInt8], _ before: [UInt8], in folder: Folder, _ path: String,
        _ images: inout [[UInt8]: [[UInt8]]]
    ) throws {
        let old = try #require(plainly(before))
        var step = 1
        var isDone = false
        while !isDone {
            try Data(before).write(to: URL(fileURLWithPath: path))
            let fault = WriteFault(after: step - 1)
            let broken = try RingFile(path, maximumBytes: 200, overwritesOldMessages: true) {
                (step) throws(RingFileError) in try fault.perform(step)
            }
            isDone = (try? broken.append(message)) != nil
            fault.end()
            let left = try broken.messages()
            let image = try bytes(path)
            #expect(left == plainly(image))
            images[image] = left
            if isDone {
                #expect(left.last == message)
            } else {
                #expect(left == Array(old.suffix(left.count)))
                try broken.append([9])
                #expect(try broken.messages() == plainly(try bytes(path)))
                #expect(try broken.messages().last == [9])
            }
            step += 1
            #expect(step < 8)
        }
    }

    /// Compares with the Python reader, written from the format's description alone, if Python is installed.
    private func expect(_ images: [[UInt8]: [[UInt8]]], in folder: Folder) throws {
        guard let python = ReaderTests.python else { return }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Reader/ring.py").path
        let all = Array(images)
        let paths = try all.enumerated().map { try file(folder, "image \($0)", $1.key) }
        let outcome = try ChildProcess.run(String(python), [script, "read"] + paths)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count == all.count && all.count > 60)
        for (line, image) in zip(lines, all) {
            let expected = image.value.map { message in
                message.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
            #expect(line == expected.joined(separator: " "))
        }
    }

    @Test("damage is an error and never a trap") func damage() throws {
        let folder = try Folder(inMemory: true)
        let path = try file(folder)
        let ring = try RingFile(path: path, maximumBytes: 160, overwritesOldMessages: true)
        var all = Set<[UInt8]>()
        for number in 0..<12 {
            let message = [UInt8](repeating: UInt8(number), count: 5 + number)
            all.insert(message)
            try ring.append(message)
        }
        let intact = try bytes(path)
        func look(_ content: [UInt8]) throws {
            let path = try file(folder, "damaged", content)
            let damaged = try RingFile(path: path, maximumBytes: 160, overwritesOldMessages: true)
            let plain = plainly(content)
            do throws(RingFileError) {
                #expect(try damaged.messages() == plain)
            } catch {
                #expect(plain == nil)
                switch error {
                case .damaged, .unsupportedVersion: break
                default: Issue.record("\(error)")
                }
            }
            _ = try? damaged.append([UInt8](repeating: 3, count: 40))
            _ = try? damaged.messages()
            #expect(try bytes(path).count <= 160)
        }
        for length in 0..<intact.count { try look(Array(intact[..<length])) }
        for bit in 0..<8 * 64 {
            var content = intact
            content[bit / 8] ^= 1 << UInt8(bit % 8)
            try look(content)
        }
        for place in 64..<intact.count {
            var content = intact
            content[place] ^= 0x80
            try look(content)
        }
    }

    @Test("reads the messages before the end of a truncated file", arguments: [0, 7]) func missingEnd(
        more: Int
    ) throws {
        let folder = try Folder(inMemory: true)
        let path = try file(folder)
        let ring = try RingFile(path: path, maximumBytes: 100_000, overwritesOldMessages: true)
        let messages = (0..<30).map { [UInt8](repeating: $0, count: 100) }
        for message in messages { try ring.append(message) }
        let length = try bytes(path).count
        try ring.append([UInt8](repeating: 1, count: 5_000))
        #expect(truncate(path, off_t(length + more)) == 0)
        for ring in [ring, try RingFile(path: path, maximumBytes: 100_000, overwritesOldMessages: true)] {
            var found: [[UInt8]] = []
            let error = #expect(throws: RingFileError.self) { try ring.forEachMessage { found.append($0) } }
            #expect(found == messages)
            #expect("\(String(describing: error))".contains("30 messages before it were read"))
            #expect(try ring.isEmpty() == false)
            #expect(throws: RingFileError.self) { try ring.append([1]) }
            #expect(throws: RingFileError.self) { try ring.outline() }
            let news = try ring.news(after: ring.cursor(beforeLast: 2))
            #expect(news.messages == Array(messages.suffix(2)) && news.damage != nil)
            #expect(throws: RingFileError.self) { try ring.news(after: news.next) }
        }
    }

    @Test("threads and handles append concurrently") func concurrentAppends() async throws {
        let folder = try Folder(inMemory: true)
        let path = try file(folder)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let shared = try RingFile(path: path, maximumBytes: 100_000, overwritesOldMessages: true)
            for writer in 0..<4 {
                group.addTask {
                    let ring =
                        writer < 2
                        ? shared
                        : try RingFile(path: path, maximumBytes: 100_000, overwritesOldMessages: true)
                    for number in 0..<250 {
                        try ring.append([UInt8(writer), UInt8(number)])
                        if number % 50 == 0 { _ = try ring.messages() }
                    }
                }
            }
            try await group.waitForAll()
        }
        let messages = try #require(plainly(try bytes(path)))
        #expect(messages.count == 1_000)
        let inOrder = [UInt8](0..<250)
        for writer: UInt8 in 0..<4 {
            let written = messages.filter { $0[0] == writer }.map { $0[1] }
            #expect(written == inOrder)
        }
    }

    @Test("reports new messages and possible losses") func news() throws {
        let folder = try Folder(inMemory: true)
        let path = try file(folder)
        let ring = try RingFile(path: path, maximumBytes: 200, overwritesOldMessages: true)
        #expect(try RingFile.settings(ofFileAt: path) == nil)
        var cursor = RingFileCursor()
        var seen: [UInt8] = []
        func look() throws -> Bool {
            let news = try ring.news(after: cursor, most: 3)
            cursor = news.next
            seen += news.messages.map { $0[0] }
            return news.someMayBeLost
        }
        for number in 0..<200 as Range<UInt8> {
            try ring.append([UInt8](repeating: number, count: 1 + Int(number) % 9))
            if number % 3 == 2 { #expect(try !look()) }
        }
        while seen.count < 200 { #expect(try !look()) }
        #expect(seen == Array(0..<200))
        #expect(try ring.news(after: cursor).messages.isEmpty)
        // Overwrites the whole ring unseen.
        for number in 0..<60 as Range<UInt8> { try ring.append([number, number, 0]) }
        #expect(try look())
        #expect(try !look())
        let outline = try ring.outline()
        #expect(outline.messages == (try ring.messages().count) && outline.fileBytes <= 200)
        #expect(outline.settings?.maximumBytes == 200)
        for count in [0, 1, 2, 1_000] {
            let last = try ring.news(after: ring.cursor(beforeLast: count))
            #expect(last.messages == Array(try ring.messages().suffix(count)) && !last.someMayBeLost)
        }
    }
}
