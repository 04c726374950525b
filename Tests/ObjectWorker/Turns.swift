import Foundation
import Vellum

/// Rounds of two programs: one records an object, and the other loads it into memory. Then the first one removes the object
/// and notifies the other one, whose next call must not return it.
final class Turns {
    /// How an object is removed or replaced.
    enum Ending: Int, CaseIterable {
        case delete, record, update, deleteAll, owner, expiry, idle, eviction, resize

        /// Slow endings, or those with many calls, are rare.
        var weight: Int {
            switch self {
            case .delete, .record, .update: 40
            case .owner, .deleteAll: 10
            case .expiry, .idle, .eviction, .resize: 1
            }
        }
    }

    static let diskSize = 8_000

    private let peer: Peer
    private let sheets: ArchiveManager<Sheet>
    private let books: ArchiveManager<Book>
    /// Equal in both programs, so that they agree without communication.
    private var random: Draws
    private let isFirst: Bool
    private(set) var round = 0
    private var stale: [String] = []
    private var lost = 0

    init(factory: ArchivesFactory, peer: Peer, seed: UInt64, isFirst: Bool) throws {
        self.peer = peer
        self.isFirst = isFirst
        random = Draws(state: seed)
        sheets = try factory.archives(for: Sheet.self, trySetMaxDiskSize: Turns.diskSize)
        books = try factory.archives(for: Book.self, trySetMaxDiskSize: Turns.diskSize)
    }

    /// Plays a round; `false` if the program whose turn it is reports the last one.
    func play(isOver: Bool) -> Bool {
        round += 1
        let key = "key \(random.below(24))"
        let ending = random.pick(Ending.allCases) { $0.weight }
        let first = random.below(4)
        let isChanging = (round % 2 == 0) == isFirst
        if round / 2 % 2 == 0 {
            return play(in: sheets, key, ending, first, isChanging, isOver)
        }
        return play(in: books, key, ending, first, isChanging, isOver)
    }

    private func play<Thing: Versioned>(
        in archives: ArchiveManager<Thing>, _ key: String, _ ending: Ending, _ question: Int,
        _ isChanging: Bool,
        _ isOver: Bool
    ) -> Bool {
        guard isChanging else {
            guard peer.hear() == round else { return false }
            // Once from disk, once from memory.
            for _ in 0..<2 where archives.access(archiveWithKey: key)?.version != round { lost += 1 }
            peer.say(round)
            let expected = peer.hear()
            let found = ask(archives, key, question) ?? 0
            if found != expected {
                stale.append("round \(round), \(ending), question \(question): \(found), not \(expected)")
            }
            peer.say(round)
            return true
        }
        guard !isOver else {
            peer.say(-1)
            return false
        }
        let object = Thing(key, version: round)
        archives.record(object, options: .init(owner: "owner \(round)"))
        peer.say(round)
        _ = peer.hear()
        end(object, by: ending, in: archives)
        peer.say(ending == .record || ending == .update ? -round : 0)
        _ = peer.hear()
        return true
    }

    /// The version of an object that an archive returns, by one of the calls that return objects.
    private func ask<Thing: Versioned>(_ archives: ArchiveManager<Thing>, _ key: String, _ way: Int) -> Int? {
        switch way {
        case 0: archives.access(archiveWithKey: key)?.version
        case 1: archives.peek(archiveWithKey: key)?.version
        case 2: archives.accessAll().first { $0.primaryKey == key }?.version
        default: archives.findWhere { $0.primaryKey(.isEqual(with: key)) }.firstResult()?.version
        }
    }

    private func end<Thing: Versioned>(
        _ object: Thing, by ending: Ending, in archives: ArchiveManager<Thing>
    ) {
        switch ending {
        case .delete: archives.delete(object)
        case .record: archives.record(Thing(object.primaryKey, version: -round))
        case .update: archives.update(Thing(object.primaryKey, version: -round))
        case .deleteAll: archives.deleteAll()
        case .owner: archives.deleteAll(ofOwner: "owner \(round)")
        case .expiry:
            archives.record(object, options: .init(expiresIn: .milliseconds(2)))
            usleep(3_000)
        case .idle:
            usleep(12_000)
            archives.deleteAllInvalidateArchives(invalidateTimeInterval: 0.001)
        case .eviction:
            var number = 0
            while archives.peek(archiveWithKey: object.primaryKey) != nil {
                archives.record(Thing("filler \(number)", version: 0))
                number += 1
            }
        case .resize:
            archives.resize(disk: 1)
            archives.resize(disk: Turns.diskSize)
        }
    }

    /// One line for each stale object, then the figures.
    func result() -> String {
        let hits = (sheets.statistics?.memoryHits ?? 0) + (books.statistics?.memoryHits ?? 0)
        return
            (stale.prefix(20) + [
                "rounds \(round)", "stale \(stale.count)", "lost \(lost)", "memory hits \(hits)",
            ])
            .joined(separator: "\n")
    }
}

/// Random numbers that are equal in both programs.
struct Draws {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state ^ (state >> 29)) >> 16) % bound
    }

    mutating func pick<Value>(_ values: [Value], weight: (Value) -> Int) -> Value {
        var place = below(values.reduce(0) { $0 + weight($1) })
        var index = 0
        while place >= weight(values[index]) {
            place -= weight(values[index])
            index += 1
        }
        return values[index]
    }
}
