#if Valkey
import Foundation
import TestSupport
import Vellum
import VellumRemote
import VellumValkey

struct Parcel: ArchiveCodable, Sendable {
    var primaryKey: String { key }
    var key: String
    var version: String
}

/// One of the machines that share a server: `ValkeyWorker URL STORE SEED OPERATIONS HISTORY`.
///
/// A change is two lines of the history, before its start and with its outcome, each written at once: they show which changes
/// a killed worker had started.
@main
struct ValkeyWorker: Sendable {
    private let seed: UInt64
    private let history: Int32
    private let parcels: RemoteArchives<Parcel>

    static func main() throws {
        let words = CommandLine.arguments
        guard words.count == 6, let seed = UInt64(words[3]), let operations = Int(words[4]) else {
            FileHandle.standardError.write(Data("ValkeyWorker URL STORE SEED OPERATIONS HISTORY\n".utf8))
            exit(2)
        }
        var options = ValkeyTier.Options()
        options.heartbeat = .milliseconds(100)
        options.timeout = .milliseconds(300)
        options.longestPause = .milliseconds(200)
        let worker = ValkeyWorker(
            seed: seed, history: open(words[5], O_WRONLY | O_CREAT | O_APPEND, 0o600),
            parcels: try ArchivesFactory(storePath: words[2]).archives(
                remote: try ValkeyTier(words[1], options: options), trySetMaxMemorySize: 20_000,
                trySetMaxDiskSize: 200_000))
        let lanes = (0..<4).map { lane in Background { worker.work(lane, operations / 4) } }
        for lane in lanes { try lane.wait() }
        let statistics = try worker.parcels.statistics()
        worker.say(
            "= fetches \(statistics.fetches) confirmed \(statistics.confirmed) memory \(statistics.near.memoryHits) connections "
                + "\(statistics.health.connections) invalidations \(statistics.health.invalidations)")
    }

    private func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        guard write(history, bytes, bytes.count) == bytes.count else { exit(3) }
    }

    /// Looks up and changes keys alternately, some much more often than others.
    private func work(_ lane: Int, _ count: Int) {
        var random = SeededGenerator(seed: seed &* 31 &+ UInt64(lane))
        for turn in 0..<count {
            // Long enough that missed changes would be detected.
            usleep(500)
            let key =
                "k\(min(Int.random(in: 0..<400, using: &random), Int.random(in: 0..<400, using: &random)))"
            let name = "\(seed).\(lane).\(turn)"
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<3:
                say("> w \(name) \(key) \(monotonicNow())")
                let outcome = outcome { try parcels.record(Parcel(key: key, version: name)) }
                say("< w \(name) \(key) \(monotonicNow()) \(outcome)")
            case 3:
                say("> d \(name) \(key) \(monotonicNow())")
                let outcome = outcome { try parcels.delete(key) }
                say("< d \(name) \(key) \(monotonicNow()) \(outcome)")
            default:
                let start = monotonicNow()
                var found: String
                do { found = try parcels.access(key)?.version ?? "-" } catch is RemoteError {
                    found = "!"
                    usleep(1000)
                } catch {
                    say("! \(error)")
                    found = "!"
                }
                say("< r \(name) \(key) \(monotonicNow()) \(found) \(start)")
            }
        }
    }

    /// Whether a change was made: `yes`, `no`, or `perhaps`.
    private func outcome(_ body: () throws -> some Any) -> String {
        do {
            _ = try body()
            return "yes"
        } catch let error as RemoteError {
            usleep(1000)
            if case .unanswered = error { return "perhaps" }
            return "no"
        } catch {
            say("! \(error)")
            return "perhaps"
        }
    }
}
#else
@main
struct ValkeyWorker {
    static func main() { fatalError("build it with the trait Valkey") }
}
#endif
