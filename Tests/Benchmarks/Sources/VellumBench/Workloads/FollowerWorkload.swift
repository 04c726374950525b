import Dispatch
import Foundation
import StorageEngine
import Synchronization
import Vellum

/// P15: 1,000 followers of changes. The throughput of unrelated tasks while all of them wait, against that without followers,
/// in turn; and the time until all have received a change, as an event and as a followed value of the typed API.
struct FollowerWorkload {
    static let title = "P15 followers"
    private static let followers = 1_000
    private static let calls = 400_000
    private static let changes = 50

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(FollowerWorkload.title) else { return [] }
        let store = try Store.open(at: plan.scratch.fresh("followers"))
        defer { store.close() }
        let archives = try (0..<4).map {
            try store.archive(named: "F\($0)", orCreate: ArchiveConfiguration())
        }
        var without = Measurement("P15 an unrelated asynchronous call", "no follower")
        var beside = Measurement("P15 an unrelated asynchronous call", "beside 1,000 idle followers")
        var reached = Measurement("P15 a change until 1,000 have it", "Vellum")
        for run in 0..<plan.runs {
            plan.say("P15: run \(run + 1) of \(plan.runs)")
            let crowd = Crowd()
            without.add(
                nanoseconds: Double(wait { await FollowerWorkload.work() }), ops: FollowerWorkload.calls)
            let tasks = try (0..<FollowerWorkload.followers).map { try crowd.follow(archives[$0 % 4]) }
            crowd.wait(until: FollowerWorkload.followers)
            beside.add(
                nanoseconds: Double(wait { await FollowerWorkload.work() }), ops: FollowerWorkload.calls)
            try change(crowd, tasks, &reached, bytes: 1) { change in
                for archive in archives { try archive.put([1], forKey: "\(change)") }
            }
        }
        let values = try typed()
        beside.compare(with: without, most: 1 / 0.98)
        reached.verdict = .within(milliseconds: 20, nanoseconds: reached.most)
        return [without, beside, reached, values]
    }

    /// Values of 4 archives with 1,000 followers, each of which reads the value after a change.
    private func typed() throws -> Measurement {
        var reached = Measurement("P15 a value until 1,000 have it", "Vellum, typed")
        let factory = ArchivesFactory(storePath: try plan.scratch.fresh("followed-values"))
        defer { factory.close() }
        let archives = try (0..<4).map { try factory.values(of: Int.self, named: "F\($0)") }
        for archive in archives { archive.record(-1, forKey: "a") }
        for run in 0..<plan.runs {
            plan.say("P15, typed: run \(run + 1) of \(plan.runs)")
            let crowd = Crowd()
            let tasks = (0..<FollowerWorkload.followers).map { crowd.follow(archives[$0 % 4]) }
            crowd.wait(until: FollowerWorkload.followers)
            change(crowd, tasks, &reached, bytes: 8) { change in
                for archive in archives { archive.record(change, forKey: "a") }
            }
        }
        reached.verdict = .within(milliseconds: 20, nanoseconds: reached.most)
        return reached
    }

    /// Times each change until all followers have it, then ends them.
    private func change(
        _ crowd: Crowd, _ tasks: [Task<Void, Never>], _ reached: inout Measurement, bytes: Int,
        _ body: (_ number: Int) throws -> Void
    ) rethrows {
        for number in 0..<FollowerWorkload.changes {
            crowd.forget()
            reached.add(
                nanoseconds: try Clock.nanoseconds {
                    try body(number)
                    crowd.wait(until: FollowerWorkload.followers)
                }, bytes: bytes)
        }
        for task in tasks { task.cancel() }
        wait { for task in tasks { await task.value } }
    }

    /// Counts the followers that have reached the next wait.
    private final class Crowd: Sendable {
        private let count = Atomic<Int>(0)

        func forget() { count.store(0, ordering: .sequentiallyConsistent) }

        func wait(until target: Int) {
            while count.load(ordering: .sequentiallyConsistent) < target {
                var rest = timespec(tv_sec: 0, tv_nsec: 50_000)
                nanosleep(&rest, nil)
            }
        }

        /// Counts each value, including the first.
        func follow(_ values: ArchiveOfValues<Int>) -> Task<Void, Never> {
            let followed = values.values(forKey: "a")
            return Task.detached { [self] in
                for await _ in followed { count.add(1, ordering: .sequentiallyConsistent) }
            }
        }

        /// Counts once at the start, and once for each event.
        func follow(_ archive: Archive) throws -> Task<Void, Never> {
            let events = try archive.follow()
            return Task.detached { [self] in
                var iterator = events.makeAsyncIterator()
                count.add(1, ordering: .sequentiallyConsistent)
                while let batch = (try? await iterator.next()) ?? nil {
                    count.add(batch.events.count, ordering: .sequentiallyConsistent)
                }
            }
        }
    }

    private actor Counter {
        private var count = 0
        func add() { count += 1 }
    }

    /// Calls from a task to an actor and back, four tasks at once.
    private static func work() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let counter = Counter()
                    for _ in 0..<calls / 4 { await counter.add() }
                }
            }
        }
    }

    /// Nanoseconds until the work is done.
    @discardableResult
    private func wait(_ work: @escaping @Sendable () async -> Void) -> UInt64 {
        let start = DispatchTime.now().uptimeNanoseconds
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await work()
            done.signal()
        }
        done.wait()
        return DispatchTime.now().uptimeNanoseconds - start
    }
}
