import Foundation
import Synchronization

/// Measures operations on hostile input: an input of n bytes may take at most 1 µs × n + 100 ms of processor time,
/// and 64 MiB of memory. Not thread-safe.
package final class Costs {
    /// The highest costs of one kind of operation, as fractions of the limits.
    package struct Worst {
        package private(set) var time = 0.0
        package private(set) var memory = 0.0
        package private(set) var what = ""

        fileprivate mutating func take(time: Double, _ what: String) {
            guard time > self.time else { return }
            (self.time, self.what) = (time, what)
        }

        fileprivate mutating func take(memory: Double) { self.memory = max(self.memory, memory) }
    }

    package private(set) var worst: [String: Worst] = [:]
    private let clock: clockid_t
    private let measuresMemory: Bool
    /// The total number of results, to show that inputs were not just refused.
    package var entries = 0

    /// Memory is measured in a process of its own.
    package init(clock: clockid_t, measuresMemory: Bool) {
        self.clock = clock
        self.measuresMemory = measuresMemory
    }

    /// Runs `body`, whatever it throws, and records its cost. `more` is additional time in seconds that it may take.
    package func measure(
        _ name: String, bytes: Int, more: Double = 0, _ what: String, _ body: () throws -> Void
    ) {
        let watch = measuresMemory ? AllocatedMemory() : nil
        let start = processorSeconds(clock)
        do { try body() } catch {}
        var took = processorSeconds(clock) - start
        if let (most, watching) = watch?.end() {
            // It is this process's time too.
            took -= watching
            worst[name, default: Worst()].take(memory: Double(most) / 67_108_864)
        }
        worst[name, default: Worst()].take(
            time: took / (1e-6 * Double(bytes) + 0.1 + more),
            "\(what): \(Int(took * 1e3)) ms for \(bytes) bytes")
    }
}

/// The highest memory use of this process since the object's creation, sampled every half millisecond; zero where
/// the system doesn't report it. Pages of mapped files don't count, because the system can reclaim them.
private final class AllocatedMemory: Sendable {
    private let before = bytes()
    private let most = Atomic(0)
    private let nanoseconds = Atomic(0)
    private let isOver = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)

    init() {
        Thread { [self] in
            while !isOver.load(ordering: .acquiring) {
                most.max(AllocatedMemory.bytes(), ordering: .relaxed)
                usleep(500)
            }
            nanoseconds.store(Int(processorSeconds() * 1e9), ordering: .relaxed)
            ended.signal()
        }.start()
    }

    /// The highest value, and the processor time in seconds that sampling took.
    func end() -> (most: Int, seconds: Double) {
        most.max(AllocatedMemory.bytes(), ordering: .relaxed)
        isOver.store(true, ordering: .releasing)
        ended.wait()
        return (most.load(ordering: .relaxed) - before, Double(nanoseconds.load(ordering: .relaxed)) / 1e9)
    }

    private static func bytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return
            (line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Int($0) } ?? 0)
            * 1024
    }
}
