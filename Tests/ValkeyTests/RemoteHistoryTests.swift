#if Valkey
import Foundation
import ServerSupport
import TestSupport
import Testing

/// Two machines and a server, killed at random, over connections that are cut, delayed and silent. Checks the workers'
/// records of each operation for consistency.
@Suite(.enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
struct RemoteHistoryTests {
    @Test("the history of operations on several machines has no stale answer") func history() async throws {
        try await run(operations: 60_000, seed: 1)
    }

    /// As many operations as an idle machine does in three times that time.
    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak")) func historySoak() async throws {
        try await run(operations: Int(Soak.seconds * 16_000), seed: Soak.seed)
    }

    /// The worker's heartbeat, 1.1 timeouts, and a second more, since a busy machine may delay the thread that detects the
    /// silence.
    private static let staleness: UInt64 = 1_430_000_000

    private func run(operations: Int, seed: UInt64) async throws {
        let server = try await ValkeyServer(["--appendonly", "yes", "--appendfsync", "no"])
        defer { withExtendedLifetime(server) {} }
        let folder = NSTemporaryDirectory() + "vellum-history-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { discard(folder) }
        let proxies = [try Proxy(to: server.port), try Proxy(to: server.port)]
        defer { withExtendedLifetime(proxies) {} }
        var random = SeededGenerator(seed: seed)
        var workers: [ChildProcess?] = [nil, nil]
        var begun = 0
        /// Operations of workers that ended; a killed worker leaves the rest of its share to others.
        var done = 0
        var troubles: [String: Int] = [:]
        let share = max(8000, operations / 40)
        func begin(_ machine: Int) throws {
            begun += 1
            workers[machine] = try ChildProcess(
                ChildProcess.program(named: "ValkeyWorker"),
                [
                    proxies[machine].url, folder + "/store \(machine)", "\(begun)", "\(share)",
                    "\(folder)/history \(begun)",
                ], streams: [0: .reading("/dev/null"), 2: .writing("\(folder)/errors \(begun)")])
        }
        var numbers = [0, 0]
        while done < operations || workers.contains(where: { $0 != nil }) {
            for machine in 0...1 {
                if let worker = workers[machine], worker.hasEnded() {
                    #expect([0, -9].contains(worker.code), "worker \(numbers[machine])")
                    workers[machine] = nil
                    done += History.operations(ofFileAt: "\(folder)/history \(numbers[machine])")
                }
                if workers[machine] == nil, done < operations {
                    try begin(machine)
                    numbers[machine] = begun
                }
            }
            // One failure after the other, or none for long enough that missed changes would be read too late.
            let isCalm = Int.random(in: 0..<16, using: &random) == 0
            try await Task.sleep(for: .milliseconds(isCalm ? 2500 : Int.random(in: 1...40, using: &random)))
            let machine = Int.random(in: 0...1, using: &random)
            func trouble(_ name: String) { troubles[name, default: 0] += 1 }
            switch Int.random(in: 0..<24, using: &random) {
            case 0:
                trouble("kills")
                workers[machine]?.signal(SIGKILL)
            case 1...2:
                trouble("cuts")
                proxies[machine].cut()
            case 3:
                trouble("holds")
                proxies[machine].hold(true)
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...600, using: &random)))
                proxies[machine].hold(false)
            case 4:
                trouble("silences")
                proxies[machine].silence(true)
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...600, using: &random)))
                // The lost data makes the connection unusable.
                proxies[machine].cut()
                proxies[machine].silence(false)
            case 5 where Bool.random(using: &random):
                trouble("server kills")
                server.stop()
                try await server.start()
            default: break
            }
        }
        let checker = try HistoryChecker(folder: folder, histories: begun, staleness: Self.staleness)
        #expect(checker.faults == [], "seed \(seed)")
        #expect(checker.oddities == [], "seed \(seed)")
        // The server has all acknowledged changes.
        var figures = Figures("two machines and a server")
        figures.add("seed", text: "\(seed)")
        figures.add("look-ups", checker.looks)
        figures.add("changes", checker.changes)
        figures.add("refused or unanswered", checker.failures)
        for (name, count) in troubles.sorted(by: { $0.key < $1.key }) { figures.add(name, count) }
        figures.add("oldest answer", nanoseconds: checker.oldest)
        figures.report()
        #expect(checker.looks > operations / 2)
        #expect(checker.changes > operations / 10)
        #expect(Double(checker.failures) < Double(operations) / 2, "most operations succeeded")
    }
}

/// The changes of one key, indexed so that each look-up is compared in logarithmic time.
private struct History {
    /// A change of a key to a version, or to none.
    struct Change {
        var version: String
        var begin: UInt64
        /// `.max`: it may take effect at any time.
        var end = UInt64.max

        var isRecord: Bool { version != "-" }
    }

    /// Ordered by their starts.
    private let changes: [Change]
    private let deletions: [Change]
    /// The earliest end of a change and all that started later.
    private let earliestEnds: [UInt64]
    /// The latest end of a deletion and all that started earlier.
    private let latestEnds: [UInt64]

    init(_ unordered: [Change]) {
        changes = unordered.sorted { $0.begin < $1.begin }
        deletions = changes.filter { !$0.isRecord }
        var earliest = UInt64.max
        earliestEnds = Array(
            changes.reversed().map { change in
                earliest = min(earliest, change.end)
                return earliest
            }.reversed())
        var latest: UInt64 = 0
        latestEnds = deletions.map { deletion in
            latest = max(latest, deletion.end)
            return latest
        }
    }

    /// When the first of the changes that started after this moment ended.
    func earliestEnd(ofChangesAfter moment: UInt64) -> UInt64 {
        let place = History.count(of: changes, until: moment)
        return place < changes.count ? earliestEnds[place] : .max
    }

    /// The record that certainly ended before this moment, as late as possible.
    func lastRecord(endedBefore moment: UInt64) -> Change? {
        changes[..<History.count(of: changes, until: moment)].last { $0.isRecord && $0.end < moment }
    }

    /// Whether a deletion that started by this moment may have taken effect after another change.
    func mayBeDeleted(after other: UInt64, by moment: UInt64) -> Bool {
        let count = History.count(of: deletions, until: moment)
        return count > 0 && latestEnds[count - 1] > other
    }

    /// The number of changes that started by then.
    private static func count(of changes: [Change], until moment: UInt64) -> Int {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].begin <= moment { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The operations with a recorded outcome.
    static func operations(ofFileAt path: String) -> Int {
        let bytes = FileManager.default.contents(atPath: path) ?? Data()
        return bytes.split(separator: UInt8(ascii: "\n")).count { $0.first == UInt8(ascii: "<") }
    }
}

/// The workers' records, and whether they are consistent.
private struct HistoryChecker {
    private(set) var faults: [String] = []
    /// Unexpected messages of workers.
    private(set) var oddities: [String] = []
    private(set) var looks = 0
    private(set) var changes = 0
    private(set) var failures = 0
    /// The age of the most outdated result.
    private(set) var oldest: UInt64 = 0

    private typealias Change = History.Change
    private var histories: [String: History] = [:]
    private var versions: [String: Change] = [:]

    init(folder: String, histories: Int, staleness: UInt64) throws {
        var looked: [(key: String, version: String, start: UInt64, end: UInt64, name: String)] = []
        var made: [String: [Change]] = [:]
        for number in 1...histories {
            let text = (try? String(contentsOfFile: "\(folder)/history \(number)", encoding: .utf8)) ?? ""
            var begun: [String: (key: String, change: Change)] = [:]
            // The last line of a killed worker may be incomplete.
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                let words = line.split(separator: " ").map(String.init)
                switch (words[0], words.count > 1 ? words[1] : "") {
                case (">", let kind):
                    let time = UInt64(words[4]) ?? 0
                    begun[words[2]] = (words[3], Change(version: kind == "w" ? words[2] : "-", begin: time))
                case ("<", "r"):
                    looks += 1
                    if words[5] == "!" {
                        failures += 1
                    } else {
                        looked.append(
                            (words[3], words[5], UInt64(words[6]) ?? 0, UInt64(words[4]) ?? 0, words[2]))
                    }
                case ("<", _):
                    changes += 1
                    guard words[5] != "no" else {
                        failures += 1
                        begun[words[2]] = nil
                        continue
                    }
                    if words[5] == "yes" {
                        begun[words[2]]?.change.end = UInt64(words[4]) ?? 0
                    } else {
                        failures += 1
                    }
                case ("=", _): break
                default: oddities.append(String(line))
                }
            }
            for (key, change) in begun.values {
                made[key, default: []].append(change)
                if change.version != "-" { versions[change.version] = change }
            }
        }
        self.histories = made.mapValues(History.init)
        for look in looked {
            if let fault = fault(of: look, staleness), faults.count < 20 { faults.append(fault) }
        }
    }

    /// A version is valid if it was recorded and not certainly replaced before the look-up: by a change that started after
    /// the record ended, and that ended early enough.
    private mutating func fault(
        of look: (key: String, version: String, start: UInt64, end: UInt64, name: String), _ staleness: UInt64
    ) -> String? {
        guard let history = histories[look.key] else {
            return look.version == "-" ? nil : "\(look.name): \(look.key) was never recorded"
        }
        if look.version == "-" { return faultOfNone(look, history, staleness) }
        guard let own = versions[look.version] else {
            return "\(look.name): \(look.version) was never recorded"
        }
        guard own.begin <= look.end else {
            return "\(look.name): \(look.version) was seen before it was recorded"
        }
        guard own.end != .max else { return nil }
        let replaced = history.earliestEnd(ofChangesAfter: own.end)
        guard replaced < look.start else { return nil }
        oldest = max(oldest, look.start - replaced)
        guard look.start - replaced > staleness else { return nil }
        return
            "\(look.name): \(look.version) of \(look.key) was replaced \((look.start - replaced) / 1_000_000) ms before"
    }

    /// No version is valid unless the latest certain change was a record that no deletion may have followed.
    private func faultOfNone(
        _ look: (key: String, version: String, start: UInt64, end: UInt64, name: String), _ history: History,
        _ staleness: UInt64
    ) -> String? {
        guard let recorded = history.lastRecord(endedBefore: look.start) else { return nil }
        // A deletion that may have followed that record, or that the look-up may have read.
        if history.mayBeDeleted(after: recorded.begin, by: look.end) { return nil }
        let age = look.start - recorded.end
        // Before the first record the key was absent.
        guard age > staleness else { return nil }
        return
            "\(look.name): \(recorded.version) of \(look.key) is lost, recorded \(age / 1_000_000) ms before"
    }
}
#endif
