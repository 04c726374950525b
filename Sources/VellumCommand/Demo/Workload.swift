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

    init(_ archive: Archive, _ data: DemoData, seed: UInt64) {
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
            while Double(done) < Double(rate) * (now - start) {
                try step()
                done += 1
            }
        }
    }

    private mutating func step() throws(StorageError) {
        let place = popularity[zipf.draw(with: &generator)]
        let key = data.keys[place]
        let kind = Int.random(in: 0..<100, using: &generator)
        if kind < Self.deletes {
            try archive.delete(key)
        } else if kind < Self.deletes + Self.updates {
            try record(place)
        } else if try archive.withAccess(key, { $0.count }) == nil {
            try record(place)
        }
    }

    private func record(_ place: Int) throws(StorageError) {
        do throws(StorageError) {
            try archive.put(
                data.values[place], forKey: data.keys[place], encoding: .cbor,
                attributes: data.attributes(of: place))
        } catch {
            // An archive can be made so small that some city doesn't fit; the others go on.
            guard error.isAboutOneEntry else { throw error }
        }
    }

    private static func isInputClosed(waiting seconds: Double) -> Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, Int32(seconds * 1000)) > 0 else { return false }
        var byte: UInt8 = 0
        return read(STDIN_FILENO, &byte, 1) <= 0
    }
}
