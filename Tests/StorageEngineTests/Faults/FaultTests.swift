import Foundation
import StorageEngine
import TestSupport
import Testing

/// R5: any system call fails, with any errno, once or from then on: the error is clear, acknowledged changes survive,
/// and the store works after the fault.
@Suite(.oneAtATime) struct FaultTests {
    static let codes: [Int32] = [ENOSPC, EIO, EINTR, EMFILE, ENOMEM, EDQUOT]

    /// How many calls of that kind (or of any) the workload makes without a fault.
    private func calls(of call: SystemCall?, locking: LockingMode) throws -> Int {
        let folder = try TemporaryFolder(inMemory: true)
        let counter = FaultPlan(.fails(EIO), call: call, under: folder.path, number: .max, isLasting: false)
        let workload = FaultWorkload(folder, locking: locking)
        withFaults(counter) { workload.run() }
        #expect(workload.errors == [], "without a fault there is no error")
        try workload.verify("no fault")
        return counter.seen
    }

    private func fail(
        _ effect: FaultPlan.Effect, _ call: SystemCall?, number: Int, isLasting: Bool, locking: LockingMode
    ) throws -> FaultWorkload {
        let folder = try TemporaryFolder(inMemory: true)
        let plan = FaultPlan(effect, call: call, under: folder.path, number: number, isLasting: isLasting)
        let workload = FaultWorkload(folder, locking: locking)
        withFaults(plan) { workload.run() }
        try workload.verify(
            "\(effect) from call \(number) of \(call?.rawValue ?? "any kind"), \(isLasting ? "lasting" : "once")"
        )
        for error in workload.errors { #expect(!error.description.isEmpty) }
        return workload
    }

    /// Every eleventh call fails, with alternating errnos. The soak test covers all combinations.
    @Test("keeps acknowledged entries whichever system call fails", arguments: [false, true])
    func anyCallFails(isLasting: Bool) throws {
        let count = try calls(of: nil, locking: .automatic)
        #expect(count > 100)
        for number in stride(from: isLasting ? 1 : 6, through: count, by: 11) {
            let code = FaultTests.codes[number / 11 % FaultTests.codes.count]
            _ = try fail(.fails(code), nil, number: number, isLasting: isLasting, locking: .automatic)
        }
    }

    @Test("keeps acknowledged entries whichever allocation finds the disk full", arguments: [false, true])
    func fullDiskAtEveryAllocation(isLasting: Bool) throws {
        let count = try calls(of: .allocate, locking: .fileLock)
        var failures = 0
        for number in 1...count {
            let workload = try fail(
                .fails(ENOSPC), .allocate, number: number, isLasting: isLasting, locking: .fileLock)
            #expect(workload.errors.allSatisfy { $0.isNoSpace }, "\(workload.errors)")
            failures += workload.errors.isEmpty ? 0 : 1
        }
        // Not all: some segments are begun only for reclaiming, and the request trace may be missing.
        #expect(failures > count / 3)
    }

    @Test("a look-up fails rather than reports absence if the index can't be read")
    func firstLookups() throws {
        for number in 300...330 {
            _ = try fail(.fails(EIO), nil, number: number, isLasting: true, locking: .automatic)
        }
    }

    @Test("repeats interrupted calls") func interruptedCalls() throws {
        for number in stride(from: 1, through: try calls(of: nil, locking: .fileLock), by: 37) {
            let workload = try fail(.fails(EINTR), nil, number: number, isLasting: false, locking: .fileLock)
            #expect(workload.errors == [], "call \(number)")
        }
    }

    @Test("repeats short reads and writes", arguments: [SystemCall.read, .write])
    func shortTransfers(call: SystemCall) throws {
        for number in stride(from: 1, through: 31, by: 6) {
            let workload = try fail(.isShort, call, number: number, isLasting: false, locking: .automatic)
            #expect(workload.errors == [])
        }
        // Lasting short writes would take one call per byte of a segment.
        guard call == .read else { return }
        let workload = try fail(.isShort, call, number: 1, isLasting: true, locking: .automatic)
        #expect(workload.errors == [])
    }

    @Test("leaves no partial archive", arguments: [SystemCall.allocate, .write, .sync, .map])
    func fullDiskCreation(call: SystemCall) throws {
        for number in 1...40 {
            let folder = try TemporaryFolder(inMemory: true)
            let store = try Store.open(at: folder.store)
            let plan = FaultPlan(
                .fails(ENOSPC), call: call, under: folder.path, number: number, isLasting: true)
            let made = withFaults(plan) {
                let made = try? store.archive(named: "New", orCreate: .cache())
                return made.map { (try? $0.put([1], forKey: "a")) != nil }
            }
            let isStored = made ?? false
            if made == nil {
                #expect(try store.archiveNames() == [], "call \(number): a partial archive is listed")
            }
            let archive = try store.archive(named: "New", orCreate: .cache())
            #expect(try archive.peek("a") == (isStored ? [1] : nil), "call \(number)")
            try archive.put([2], forKey: "a")
            #expect(try archive.check().clean, "call \(number)")
            if plan.injected == 0 { return }
        }
        Issue.record("creating an archive made more than 40 calls")
    }

    @Test("shrinks the index while system calls fail", arguments: [SystemCall.open, .allocate, .map])
    func shrinkingIndex(call: SystemCall) throws {
        for number in 1...2 {
            let folder = try TemporaryFolder(inMemory: true)
            let configuration = ArchiveConfiguration.cache(300_000)
            let filled = try folder.archive("Tiny", creating: configuration)
            for key in 0..<9_000 { try filled.put(repeated(1, 30), forKey: "\(key)") }
            let archive = try folder.reopen(filled, rebuilding: false)
            let before = try archive.status().footprint
            let large = repeated(2, 299_000)
            let plan = FaultPlan(
                .fails(EMFILE), call: call, under: folder.path, number: number, isLasting: true)
            let isStored = withFaults(plan) { (try? archive.put(large, forKey: "large")) != nil }
            if isStored { #expect(try archive.peek("large") == large, "\(call) \(number)") }
            try archive.put(large, forKey: "large")
            #expect(try archive.status().footprint < before, "\(call) \(number)")
            try archive.expectValid("\(call) \(number)")
            archive.close()
        }
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs for a share of VELLUM_SOAK_SECONDS seconds"))
    func faultsSoak() throws {
        let end = Soak.end(share: 0.25)
        let count = try calls(of: nil, locking: .automatic)
        var cases = (0..<count * FaultTests.codes.count * 4).map { $0 }
        var random = SeededGenerator(seed: Soak.seed)
        cases.shuffle(using: &random)
        var done = 0
        var errors = 0
        for item in cases {
            guard Date() < end else { break }
            let workload = try fail(
                .fails(FaultTests.codes[item / 4 % FaultTests.codes.count]), nil,
                number: 1 + item / 4 / FaultTests.codes.count, isLasting: item & 1 == 1,
                locking: item & 2 == 0 ? .automatic : .fileLock)
            done += 1
            errors += workload.errors.count
        }
        Figures("R5 faults", ["injected": done, "errors reported": errors, "seed": "\(Soak.seed)"]).report()
    }
}
