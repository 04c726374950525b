import CacheAdvance
import Foundation
import TestSupport
import Testing

@Suite struct CacheAdvanceTests {
    let folder: Folder

    init() throws { folder = try Folder() }

    private func texts(_ file: URL, _ maximum: UInt64, overwrites: Bool = true) throws -> CacheAdvance<String>
    {
        try CacheAdvance(file: file, maximumBytes: maximum, shouldOverwriteOldMessages: overwrites)
    }

    @Test("a message that is too large throws an error that matches both names") func tooLargeMessages()
        throws
    {
        // A message "ab" is 4 bytes of JSON, and 4 of length.
        let keeping = try texts(try folder.file(), 80, overwrites: false)
        try keeping.append(message: "ab")
        try keeping.append(message: "cd")
        do {
            try keeping.append(message: "")
            Issue.record("the cache has no space left")
        } catch CacheAdvanceError.messageLargerThanCacheCapacity {
            Issue.record("an empty cache would have space")
        } catch CacheAdvanceError.messageLargerThanRemainingCacheSize {}
        do { try keeping.append(message: "") } catch CacheAdvanceError.messageDataTooLarge {}
        #expect(throws: CacheAdvanceError.messageDataTooLarge) { try keeping.append(message: "") }
        #expect(throws: CacheAdvanceError.messageLargerThanRemainingCacheSize) {
            try keeping.append(message: "")
        }
        #expect(try keeping.messages() == ["ab", "cd"])

        let turning = try texts(try folder.file(), 80)
        for text in ["ab", "cd", "ef", "twelve 789"] { try turning.append(message: text) }
        #expect(try turning.messages() == ["twelve 789"])
        #expect(throws: CacheAdvanceError.messageDataTooLarge) { try turning.append(message: "thirteen 89") }
        do {
            try turning.append(message: "thirteen 89")
        } catch let error as CacheAdvanceError {
            guard case .messageLargerThanCacheCapacity = error else { throw error }
            #expect(error == .messageDataTooLarge && error != .fileCorrupted && error != .fileNotWritable)
        }
        #expect(try turning.messages() == ["twelve 789"])
    }

    @Test("any maximum size is accepted", arguments: [0, 1, 63, 64, 68, 69, UInt64.max]) func anyMaximum(
        maximum: UInt64
    ) throws {
        for overwrites in [false, true] {
            let cache = try texts(try folder.file(), maximum, overwrites: overwrites)
            if maximum == .max {
                try cache.append(message: "a small message")
                #expect(try cache.messages() == ["a small message"])
            } else {
                #expect(throws: CacheAdvanceError.messageLargerThanCacheCapacity) {
                    try cache.append(message: "x")
                }
                #expect(try cache.isEmpty())
                #expect(try cache.messages() == [])
            }
        }
    }

    @Test("a cache with other settings reads but cannot append") func otherSettings() throws {
        let file = try folder.file()
        let cache = try texts(file, 100)
        #expect(try cache.isWritable())
        #expect(try cache.isEmpty())
        // The first use stores the settings.
        #expect(try Data(contentsOf: file).count == 64)
        #expect(try !texts(file, 99).isWritable())
        for number in 0..<20 { try cache.append(message: "\(number)") }
        let kept = try cache.messages()
        #expect(kept.last == "19")
        for other in [try texts(file, 99), try texts(file, 0), try texts(file, 100, overwrites: false)] {
            #expect(try other.messages() == kept)
            #expect(try !other.isEmpty())
            #expect(try !other.isWritable())
            #expect(throws: CacheAdvanceError.fileNotWritable) { try other.append(message: "x") }
        }
        #expect(try texts(file, 100).isWritable())
        // Another version of the format.
        var content = try Data(contentsOf: file)
        content[0] = 7
        try content.write(to: file)
        let newer = try texts(file, 100)
        let error = CacheAdvanceError.incompatibleHeader(persistedVersion: 7)
        #expect(throws: error) { try newer.messages() }
        #expect(throws: error) { try newer.isEmpty() }
        #expect(throws: error) { try newer.append(message: "x") }
        #expect(try !newer.isWritable())
    }

    /// What broke: after its file was deleted, as the page recommends for a damaged one, a cache wrote into the
    /// deleted file.
    @Test("appending to a removed file is an error") func removedFile() throws {
        let file = try folder.file()
        let cache = try texts(file, 1_000)
        try cache.append(message: "x")
        try FileManager.default.removeItem(at: file)
        #expect { try cache.append(message: "y") } throws: { ($0 as? CocoaError)?.code == .fileNoSuchFile }
        #expect(throws: CocoaError.self) { try texts(file, 1_000) }
        // A folder isn't a damaged cache, which users are advised to delete.
        #expect(throws: CocoaError.self) { try texts(folder.url, 1_000) }
        #expect(throws: CocoaError.self) { try texts(URL(string: "https://example.org/a")!, 1_000) }
    }

    @Test("errors of the coders are thrown") func coderErrors() throws {
        let file = try folder.file()
        let cache = try plainCache(file, 500)
        #expect(throws: EncodingError.self, "of no bytes") { try cache.append(message: Data()) }
        try cache.append(message: Data("no JSON".utf8))
        #expect(throws: DecodingError.self) { try texts(file, 500).messages() }
        #expect(try cache.messages().count == 1)
        #expect(try cache.damage() == nil)
    }

    @Test("damage is reported, and only stored messages are returned") func damage() throws {
        let file = try folder.file()
        let cache = try plainCache(file, 200)
        var all: [Data] = []
        for number in 0..<20 {
            all.append(Data(repeating: UInt8(number), count: 5 + number % 7))
            try cache.append(message: all[number])
        }
        let intact = try Data(contentsOf: file)
        let kept = try cache.messages()
        #expect(kept == Array(all.suffix(kept.count)) && intact[10...17] != intact[18...25])
        var refused = 0
        func look(_ content: Data) throws {
            let damaged = try plainCache(try folder.file(content, named: "damaged"), 200)
            do {
                let messages = try damaged.messages()
                #expect(content.isEmpty ? messages.isEmpty : messages == Array(kept.suffix(messages.count)))
                #expect(try damaged.damage() == nil)
            } catch CacheAdvanceError.fileCorrupted {
                #expect(try damaged.damage()?.contains("damaged, byte ") == true)
                refused += 1
            } catch CacheAdvanceError.incompatibleHeader {}
            try? damaged.append(message: Data(repeating: 9, count: 30))
        }
        for length in 0..<intact.count { try look(intact.prefix(length)) }
        #expect(refused > 100)
        for bit in 0..<64 * 8 {
            var content = intact
            content[bit / 8] ^= 1 << UInt8(bit % 8)
            try look(content)
        }
        #expect(refused > 200)
    }

    /// In a process of its own, because a failure here hangs.
    @Test("coding a message may wait for threads that use the cache") func waitingCoding() async {
        await #expect(processExitsWith: .success) {
            let folder = try Folder()
            let cache = try CacheAdvance<Asking>(
                fileURL: folder.file(), maximumBytes: 5_000, shouldOverwriteOldMessages: true)
            let asks: @Sendable () -> Void = {
                let asked = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    guard (try? cache.append(message: Asking())) != nil, (try? cache.messages()) != nil else {
                        exit(4)
                    }
                    asked.signal()
                }
                guard asked.wait(timeout: .now() + 120) == .success else { exit(3) }
            }
            try Asking.withCoding(calling: asks) {
                try cache.append(message: Asking())
                try #require(try cache.messages().count == 2)
            }
        }
    }

    @Test("threads share an object and a file") func sharedByThreads() throws {
        let file = try folder.file()
        let shared = try texts(file, 100_000, overwrites: false)
        let others = try [shared, shared, texts(file, 100_000, overwrites: false)].enumerated().map { $0 }
        DispatchQueue.concurrentPerform(iterations: others.count) { writer in
            for number in 0..<100 { try? others[writer].element.append(message: "\(writer) \(number)") }
        }
        let messages = try shared.messages()
        #expect(messages.count == 300)
        for writer in 0..<3 {
            let own = messages.filter { $0.hasPrefix("\(writer) ") }
            #expect(own == (0..<100).map { "\(writer) \($0)" })
        }
    }

    /// Several processes append to one file, and each is killed in between: every message whose append returned is
    /// there.
    @Test("killed processes lose no acknowledged message") func killedProcesses() async throws {
        let ring = try folder.file(named: "ring").path
        setenv("CACHE_ADVANCE_RING", ring, 1)
        for round in 0..<2 {
            setenv("CACHE_ADVANCE_ROUND", String(round), 1)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                let path = String(cString: getenv("CACHE_ADVANCE_RING"))
                let round = String(cString: getenv("CACHE_ADVANCE_ROUND"))
                let cache = try CacheAdvance<String>(
                    file: URL(fileURLWithPath: path), maximumBytes: 3_000, shouldOverwriteOldMessages: true)
                let told = open(path + round, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
                Thread.detachNewThread {
                    usleep(.random(in: 1_000...30_000))
                    kill(getpid(), SIGKILL)
                }
                for number in 0... {
                    try cache.append(
                        message: "\(round) \(number) " + String(repeating: "x", count: number % 90))
                    var done = Int64(number)
                    _ = pwrite(told, &done, 8, 0)
                }
            }
            let told = try Data(contentsOf: URL(fileURLWithPath: ring + String(round)))
            let done = told.isEmpty ? -1 : told.withUnsafeBytes { Int($0.loadUnaligned(as: Int64.self)) }
            let messages = try texts(URL(fileURLWithPath: ring), 3_000).messages()
            let numbers = messages.filter { $0.hasPrefix("\(round) ") }.map {
                Int($0.split(separator: " ")[1])!
            }
            #expect((numbers.last ?? -1) >= done && (numbers.last ?? -1) <= done + 1)
            #expect(numbers == Array(((numbers.first ?? 0)..<(numbers.last ?? -1) + 1)))
            #expect(done < 50 || numbers.count > 10, "the ring is full")
        }
    }
}
