import Foundation
import StorageEngine
import Testing

/// The history of a key from frames of the log.
@Suite(.oneAtATime) struct LogHistoryTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func words(_ history: LogHistory) -> [String] {
        history.changes.map { "\($0.event.kind) \($0.event.key ?? "-") \($0.event.bytes) \($0.event.cause)" }
    }

    @Test("a put that evicts an entry dates its eviction") func evicted() throws {
        let archive = try folder.archive(creating: .cache(100))
        try archive.put([1, 2], forKey: "a")
        try archive.update([3], forKey: "a")
        try archive.put(repeated(0, 100), forKey: "big")
        let history = try archive.logHistory(of: "a")
        #expect(
            words(history) == ["record a 2 request", "update a 1 request", "eviction a 1 limit"]
                && !history.isPartial)
        let events = try archive.history(of: "a").events
        #expect(history.changes.map(\.event.time) == events.map(\.time))
        #expect(history.changes.allSatisfy { $0.notBefore == nil })
        let big = words(try archive.logHistory(of: "big"))
        #expect(big == ["record big 100 request"])
        let observer = try folder.archive(mode: .readOnly)
        let observed = try observer.logHistory(of: "a")
        #expect(observed == history)
        observer.close()
        let again = try folder.reopen(archive)
        #expect(try again.history(of: "a").events.isEmpty && again.logHistory(of: "a") == history)
    }

    @Test("the history of a deleted key has its deletion") func deleted() throws {
        let archive = try folder.archive(creating: .collection)
        try archive.put([1, 2], forKey: "a")
        try archive.delete("a")
        try archive.put([1], forKey: "b")
        #expect(words(try archive.logHistory(of: "a")) == ["record a 2 request", "delete a 2 request"])
        archive.close()
    }

    @Test("an expired entry is dated by its expiry time, and once it is removed by the time of removal")
    func expired() throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let archive = try folder.archive(creating: .collection)
            try archive.put([1], forKey: "a", attributes: .expiring(.seconds(1)))
            let stored = try #require(try archive.logHistory(of: "a").changes.first).event.time
            hand.pass(.seconds(3))
            for seconds in [1.0, 3.0] {
                let history = try archive.logHistory(of: "a")
                #expect(words(history) == ["record a 1 request", "expiry a 1 deadline"])
                let last = try #require(history.changes.last).event.time
                #expect(abs(last.secondsSince1970 - stored.secondsSince1970 - seconds) < 0.1)
                try archive.removeExpired()
            }
            archive.close()
        }
    }

    @Test("puts and changes of an expiry time report the expiry time that they set") func expiryTimes() throws
    {
        let archive = try folder.archive(creating: .collection)
        try archive.put([1], forKey: "a", attributes: .expiring(.seconds(60)))
        try archive.setLifetime(.seconds(600), forKey: "a")
        try archive.put([2], forKey: "a")
        let histories = [
            try archive.history(of: "a").events, try archive.logHistory(of: "a").changes.map(\.event),
        ]
        for events in histories {
            let lifetimes = events.map { event in
                event.expires.map { ($0.secondsSince1970 - event.time.secondsSince1970).rounded() }
            }
            #expect(lifetimes == [60, 600, nil])
        }
        archive.close()
    }

    @Test("the time of a copied entry is given as a range") func copied() throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let archive = try folder.archive(creating: .collection)
            try archive.put([1], forKey: "k")
            hand.pass(.seconds(1))
            try archive.update([2, 3], forKey: "k")
            for _ in 0..<20 { try archive.put(repeated(1, 1_000_000), forKey: "x") }
            hand.pass(.seconds(1))
            try archive.delete("k")
            let history = try archive.logHistory(of: "k")
            #expect(words(history) == ["record k 2 request", "delete k 2 request"])
            let first = try #require(history.changes.first)
            let earliest = try #require(first.notBefore)
            #expect(earliest < first.event.time)
            archive.close()
        }
    }

    @Test("reclaimed frames are unknown, and a limited search is partial") func reclaimed() throws {
        let archive = try folder.archive(creating: .cache(400_000))
        let value = repeated(1, 100_000)
        for number in 0..<200 { try archive.put(value, forKey: "k\(number)") }
        let whole = try archive.logHistory(of: "k0")
        #expect(whole.changes.isEmpty && !whole.isPartial && whole.searchedBytes == whole.totalBytes)
        try #require(try folder.segments().count > 1)
        let part = try archive.logHistory(of: "k0", most: 1)
        #expect(part.isPartial && part.searchedBytes < part.totalBytes)
        let stopped = try archive.logHistory(of: "k0") { _ in false }
        #expect(stopped.isPartial && stopped.searchedBytes == 0)
        archive.close()
    }
}
