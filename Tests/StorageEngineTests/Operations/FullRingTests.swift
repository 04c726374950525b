import Foundation
import StorageEngine
import TestSupport
import Testing

/// A ring holds as much as its limit allows, and drops no more than necessary.
@Suite struct FullRingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private static let limit = 300_000

    private func open(_ folder: TemporaryFolder) throws -> Archive {
        try folder.archive("Ring", creating: .log(UInt64(FullRingTests.limit)))
    }

    private func message(_ number: Int, bytes: Int = 1000) -> [UInt8] {
        Array("\(number) ".utf8) + repeated(0x78, bytes - "\(number) ".utf8.count)
    }

    private func numbers(_ messages: [LogMessage]) -> [Int] {
        messages.compactMap { Int(String(decoding: $0.bytes.prefix { $0 != 0x20 }, as: UTF8.self)) }
    }

    @Test("reads segments that other processes extended to their end") func extendedSegments() throws {
        let first = try open(folder)
        let second = try open(folder)
        let follower = try open(folder)
        var cursor: MessageCursor?
        var followed: [Int] = []
        for number in 0..<1_000 {
            // Alternating runs of different lengths, so that each handle maps each segment while it is short.
            try (number % 70 < 23 ? first : second).append(message(number))
            if number % 47 == 0 || number == 999 {
                let batch = try follower.messages(after: cursor, most: .max)
                #expect(!batch.someAreLost)
                followed += numbers(batch.messages)
                cursor = batch.next
            }
        }
        #expect(followed == Array(0..<1_000))
        for archive in [first, second, follower] {
            #expect(numbers(try archive.messages(most: .max).messages) == Array(700..<1_000))
            #expect(try archive.status().diskBytes == UInt64(FullRingTests.limit))
        }
    }

    @Test("a damaged message doesn't reduce the ring's capacity permanently") func damagedTotal() throws {
        let archive = try open(folder)
        for number in 0..<5 { try archive.append(message(number)) }
        try archive.append(message(5, bytes: 100_000))
        for number in 6..<201 { try archive.append(message(number)) }
        #expect(try archive.status().diskBytes == UInt64(FullRingTests.limit))
        try spoil(folder, "5 xxxx")
        for number in 201..<700 { try archive.append(message(number)) }
        #expect(numbers(try archive.messages(most: .max).messages) == Array(400..<700))
        #expect(try archive.status().diskBytes == UInt64(FullRingTests.limit))
        #expect(try archive.status().entries == 300)
    }

    @Test("recounts a wrong total", arguments: [UInt64(1) << 40, 400_000])
    func wrongTotal(total: UInt64) throws {
        let archive = try open(folder)
        for number in 0..<250 { try archive.append(message(number)) }
        try overwrite(folder.archivePath("Ring", "index"), at: 480, with: little(total))
        try archive.append(message(250))
        #expect(numbers(try archive.messages(most: .max).messages) == Array(0..<251))
        #expect(try archive.status().diskBytes == 251_000)
        try archive.setLimits(disk: 100_000, memory: nil)
        #expect(try archive.status().entries == 100)
    }

    @Test("a lack of descriptors hides no messages") func lackOfDescriptors() throws {
        let archive = try open(folder)
        var number = 0
        for opening in 1...40 {
            let other = try open(folder)
            let reader = try open(folder)
            for _ in 0..<330 {
                try archive.append(message(number))
                number += 1
            }
            let plan = FaultPlan(
                .fails(EMFILE), call: .open, under: folder.archivePath("Ring", "0000"), number: opening,
                isLasting: false)
            SystemFaults.install(plan)
            let last = try? reader.messages(after: reader.cursor(beforeLast: 100), most: .max)
            let read = try? reader.messages(most: .max)
            if (try? other.append(message(number))) != nil { number += 1 }
            SystemFaults.remove(plan)
            if let read { #expect(read.messages.count == 300 && !read.someAreLost, "opening \(opening)") }
            if let last { #expect(last.messages.count == 100, "opening \(opening)") }
            let present = numbers(try archive.messages(most: .max).messages)
            #expect(present == Array(number - 300..<number), "opening \(opening)")
            other.close()
            reader.close()
            if plan.injected == 0 { return }
        }
        Issue.record("reading opened more than 40 segments")
    }

    private func spoil(_ folder: TemporaryFolder, _ text: String) throws {
        for name in try folder.files(inArchive: "Ring") where name.hasSuffix(".segment") {
            let path = folder.archivePath("Ring", name)
            guard try contents(of: path).range(of: Data(text.utf8)) != nil else { continue }
            try flip(path, text: text)
            return
        }
        Issue.record("no segment holds \(text)")
    }
}
