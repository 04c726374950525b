import StorageEngine

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// For one thread. Uses an archive as a program uses its cache: looks things up, some far more often than others, and
/// records what it misses; now and then it records something anew or deletes it.
struct Workload {
    private static let tick = 0.005
    /// Of a hundred operations.
    private static let updates = 2
    private static let deletes = 2

    private let archive: Archive
    private let data: DemoData
    private let zipf: Zipf
    /// Places in the data from the most popular to the least.
    private let popularity: [Int]
    private var generator: SeededGenerator
    private var journal: DemoJournal

    /// `log`: an archive of messages, which tells of some of it in words.
    init(_ archive: Archive, log: Archive, _ data: DemoData, seed: UInt64) {
        journal = DemoJournal(log, data, seed: seed)
        self.archive = archive
        self.data = data
        zipf = Zipf(count: data.keys.count)
        generator = SeededGenerator(seed: seed)
        popularity = Array(data.keys.indices).shuffled(using: &generator)
    }

    /// Works at `rate` operations a second until the other end of standard input is closed, which the death of the
    /// process that holds it does too, or until a signal asks to end.
    mutating func run(rate: Int) throws(StorageError) {
        var start = MonotonicClock.seconds()
        var done = 0
        while !Interruption.isRequested, !Self.isInputClosed(waiting: Self.tick) {
            let now = MonotonicClock.seconds()
            // After having been stopped for a while there is nothing to catch up with.
            if Double(rate) * (now - start) > Double(done + rate) {
                start = now
                done = 0
            }
            while Double(done) < Double(rate) * (now - start) { done += try step() }
            try journal.tell(now: now)
        }
    }

    /// What a program does for one of its users; returns how many operations of the archive that were, as its
    /// counters count them.
    private mutating func step() throws(StorageError) -> Int {
        let place = popularity[zipf.draw(with: &generator)]
        let key = data.keys[place]
        let kind = Int.random(in: 0..<100, using: &generator)
        if kind < Self.deletes {
            guard try archive.delete(key) else { return 0 }
            journal.note(.deleted, place)
            return 1
        }
        if kind < Self.deletes + Self.updates {
            journal.note(.renewed, place)
            return try record(place)
        }
        guard try archive.withAccess(key, { $0.count }) == nil else {
            journal.note(.found, place)
            return 1
        }
        journal.note(.missed, place)
        return try 1 + record(place)
    }

    private func record(_ place: Int) throws(StorageError) -> Int {
        do throws(StorageError) {
            try archive.put(
                data.values[place], forKey: data.keys[place], encoding: .cbor,
                attributes: data.attributes(of: place))
            return 1
        } catch {
            // An archive can be made so small that some city doesn't fit; the others go on.
            guard error.isAboutOneEntry else { throw error }
            return 0
        }
    }

    private static func isInputClosed(waiting seconds: Double) -> Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, Int32(seconds * 1000)) > 0 else { return false }
        var byte: UInt8 = 0
        return read(STDIN_FILENO, &byte, 1) <= 0
    }
}
