import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing
import Vellum

@Suite struct ComputingTests {
    private let store = TemporaryStore()
    private let notes: ArchiveManager<Note>

    init() throws { notes = try store.factory().archives(for: Note.self) }

    private struct Failure: Error {}

    private final class Flag: Sendable {
        private let state = Guarded(false)

        var isSet: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)

        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
    }

    private final class Gate: Sendable {
        private let state = Guarded<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))
        let entered = Atomic(0)

        func pass() async {
            entered.add(1, ordering: .relaxed)
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    @Test("a present object isn't computed") func presentObjects() async throws {
        let note = Note("a", "1")
        #expect(try notes.value(forKey: "a", options: .init(owner: "ada")) { note } == note)
        #expect(try notes.value(forKey: "a") { throw Failure() } == note)
        #expect(try notes.value(forKey: "a") { throw Failure() } == note)
        #expect(try await notes.asynchronous.value(forKey: "a") { throw Failure() } == note)
        #expect(try notes.core.archive.metadata("a")?.owner == "ada")
    }

    @Test("a computation doesn't undo changes made during it", arguments: [false, true])
    func changesDuringComputation(isThere: Bool) async throws {
        func begin() {
            if isThere {
                notes.record(Note("a", "0"), options: .init(expiresIn: .seconds(1_000)))
            } else {
                notes.deleteAll()
            }
        }
        let changes: [(change: @Sendable () -> Void, left: String?)] = [
            ({ notes.record(Note("a", "newer")) }, "newer"),
            ({ notes.update(Note("a", "newer")) }, "newer"),
            ({ notes.delete(archiveWithKey: "a") }, nil),
            ({ notes.deleteAll() }, nil),
            ({ notes.delete(keys: ["b", "a"]) }, nil),
            ({ try? notes.transaction { $0.delete(archiveWithKey: "a") } }, nil),
        ]
        for (change, left) in changes {
            begin()
            let older = try notes.value(forKey: "a", renewingBefore: .seconds(10_000)) {
                change()
                return Note("a", "older")
            }
            #expect(older.text == "older")
            #expect(notes.peek(archiveWithKey: "a")?.text == left)
            begin()
            let gate = Gate()
            let task = Task {
                try await notes.asynchronous.value(forKey: "a", renewingBefore: .seconds(10_000)) {
                    await gate.pass()
                    return Note("a", "older")
                }
            }
            while gate.entered.load(ordering: .relaxed) == 0 { await Task.yield() }
            change()
            let flight = notes.core.flights
            gate.open()
            _ = try await task.value
            while flight.waiting(for: "a") > 0 { await Task.yield() }
            #expect(notes.peek(archiveWithKey: "a")?.text == left)
        }
    }

    @Test("an abandoned computation doesn't restore deleted objects")
    func abandonedComputations() async throws {
        @Sendable func record() { notes.record(Note("a", "newer")) }
        let changes: [@Sendable () -> Void] = [
            { notes.delete(archiveWithKey: "a") },
            { notes.deleteAll() },
            {
                record()
                notes.where(\.text == "newer").deleteResults()
            },
            {
                record()
                // The clock of LRU access times ticks every few milliseconds.
                usleep(50_000)
                notes.deleteAllInvalidateArchives(invalidateTimeInterval: 0.001)
            },
        ]
        for (number, change) in changes.enumerated() {
            let (gate, hasEnded) = (Gate(), Flag())
            let task = Task {
                try await notes.asynchronous.value(forKey: "a") {
                    await gate.pass()
                    hasEnded.isSet = true
                    return Note("a", "older")
                }
            }
            while gate.entered.load(ordering: .relaxed) == 0 { await Task.yield() }
            let isAbandoned = number < 2
            if isAbandoned { task.cancel() }
            while isAbandoned, notes.core.flights.waiting(for: "a") > 0 { await Task.yield() }
            change()
            gate.open()
            _ = try? await task.value
            while !hasEnded.isSet { await Task.yield() }
            // Only the next caller could wait for the end of an abandoned computation.
            try await Task.sleep(for: .milliseconds(50))
            #expect(notes.peek(archiveWithKey: "a") == nil, "\(number)")
        }
    }

    @Test(arguments: [("pages", false), ("sessions", true)])
    func deletedOwners(deleted: String, isKept: Bool) throws {
        _ = try notes.value(forKey: "a", options: .init(owner: "pages")) {
            notes.deleteAll(ofOwner: deleted)
            return Note("a", "1")
        }
        #expect(notes.contains(archiveWithKey: "a") == isKept)
    }

    @Test("a renewed object is kept if the former one expired during the renewal")
    func expiryDuringRenewal() throws {
        notes.record(Note("a", "1"), options: .init(expiresIn: .milliseconds(100)))
        let new = try notes.value(forKey: "a", renewingBefore: .seconds(10)) {
            while notes.peek(archiveWithKey: "a") != nil { usleep(1_000) }
            return Note("a", "2")
        }
        #expect(new.text == "2")
        #expect(notes.peek(archiveWithKey: "a")?.text == "2")
    }

    @Test("an object that is changed or deleted during its renewal isn't overwritten", arguments: 0..<9)
    func changesDuringRenewal(number: Int) throws {
        let others = try store.factory().archives(for: Note.self)
        let changes: [() throws -> Void] = [
            { notes.where(\.text == "1").deleteResults() },
            { notes.deleteAll(ofOwner: "ada") },
            { notes.delete(archiveWithKey: "a") },
            { notes.deleteAll() },
            { others.delete(archiveWithKey: "a") },
            { others.deleteAll() },
            { others.deleteAll(ofOwner: "ada") },
            { others.where(\.text == "1").deleteResults() },
            { others.record(Note("a", "3"), options: .init(expiresIn: .milliseconds(50))) },
        ]
        notes.record(Note("a", "1"), options: .init(expiresIn: .milliseconds(300), owner: "ada"))
        let new = try notes.value(forKey: "a", renewingBefore: .seconds(10)) {
            try changes[number]()
            usleep(400_000)
            return Note("a", "2")
        }
        #expect(new.text == "2")
        #expect(notes.peek(archiveWithKey: "a") == nil)
    }

    @Test("a refused record doesn't discard a computed object") func refusedRecords() throws {
        let computed = Note("a", "1")
        _ = try notes.value(forKey: "a") {
            notes.record(Note("a", "2"), options: .init(owner: ""))
            return computed
        }
        #expect(notes.peek(archiveWithKey: "a") == computed)
    }

    @Test(arguments: [2_000, 10]) func objectsInOtherMemory(bytes: Int) throws {
        let store = TemporaryStore()
        let notes = try (0..<2).map { _ in
            try store.factory().archives(
                for: Note.self, trySetMaxMemorySize: 1_000_000, trySetMaxDiskSize: 1_000)
        }
        notes[0].record(Note("a", String(repeating: "x", count: 2_000)))
        #expect(notes[0].peek(archiveWithKey: "a") != nil && notes[1].peek(archiveWithKey: "a") == nil)
        let count = Counter()
        for _ in 0..<3 {
            _ = try notes[1].value(forKey: "a") {
                count.add()
                return Note("a", String(repeating: "y", count: bytes))
            }
        }
        #expect(count.value == 1)
    }

    /// Calls a closure when its last copy is released.
    private final class Token: @unchecked Sendable {
        private let end: @Sendable () -> Void
        init(_ end: @escaping @Sendable () -> Void) { self.end = end }
        deinit { end() }
    }

    private struct Held: Codable, Archivable, @unchecked Sendable {
        var primaryKey: String
        var token: Token?
        enum CodingKeys: String, CodingKey { case primaryKey }
    }

    @Test("an object released from memory may use the archive") func releasedObjects() throws {
        let held = try store.factory().archives(for: Held.self)
        let ended = Counter()
        @Sendable func token() -> Token {
            Token {
                ended.add()
                _ = held.access(archiveWithKey: "b")
                held.delete(archiveWithKey: "c")
            }
        }
        held.record(Held(primaryKey: "b"))
        held.record(Held(primaryKey: "a", token: token()))
        held.record(Held(primaryKey: "a", token: token()))
        #expect(ended.value == 1)
        held.delete(archiveWithKey: "a")
        #expect(ended.value == 2)
        _ = try held.value(forKey: "c") {
            held.record(Held(primaryKey: "a", token: token()))
            held.record(Held(primaryKey: "a"))
            return Held(primaryKey: "c")
        }
        #expect(ended.value == 3)
        held.record(Held(primaryKey: "a", token: token()))
        held.deleteAll()
        #expect(ended.value == 4)
    }

    @Test(arguments: [true, false]) func objectsReleasedByReopening(isRemoved: Bool) throws {
        let factory = store.factory()
        let held = try factory.archives(for: Held.self)
        let ended = Counter()
        let token = Token {
            ended.add()
            _ = held.access(archiveWithKey: "b")
        }
        held.record(Held(primaryKey: "a", token: consume token))
        if isRemoved { try FileManager.default.removeItem(atPath: store.path) } else { factory.close() }
        usleep(1_000)
        held.record(Held(primaryKey: "c"))
        #expect(ended.value == 1)
        #expect((held.access(archiveWithKey: "a") == nil) == isRemoved)
    }

    @Test("threads that request a missing object compute it once") func threadsComputeOnce() throws {
        let computed = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            let note = try? notes.value(forKey: "a") {
                computed.add(1, ordering: .relaxed)
                Thread.sleep(forTimeInterval: 0.05)
                return Note("a", "1")
            }
            #expect(note?.text == "1")
        }
        #expect(computed.load(ordering: .relaxed) == 1)
    }

    @Test("tasks that request a missing object compute it once") func tasksComputeOnce() async throws {
        let people = try store.factory().archives(for: Person.self)
        let gate = Gate()
        let ages = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let person = try await people.asynchronous.value(forKey: "ada") {
                        await gate.pass()
                        return Person(name: "ada", age: 36)
                    }
                    // No two callers share an object.
                    person.age += 1
                    return person.age
                }
            }
            #expect(try await eventually(within: 4) { gate.entered.load(ordering: .relaxed) == 1 })
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ages == [Int](repeating: 37, count: 50))
        #expect(gate.entered.load(ordering: .relaxed) == 1)
    }

    @Test("errors are thrown and not kept") func errors() async throws {
        #expect(throws: Failure.self) { try notes.value(forKey: "a") { throw Failure() } }
        await #expect(throws: Failure.self) {
            try await notes.asynchronous.value(forKey: "a") { throw Failure() }
        }
        #expect(throws: ArchiveError.self) { try notes.value(forKey: "a") { Note("b") } }
        #expect(try notes.value(forKey: "a") { Note("a", "1") }.text == "1")
        #expect(notes.access(archiveWithKey: "b") == nil)
    }

    @Test("cancelling affects one caller; the last one cancels the computation")
    func cancellation() async throws {
        let gate = Gate()
        let wasCancelled = Flag()
        @Sendable func ask() async throws -> String {
            try await notes.asynchronous.value(forKey: "a") {
                await gate.pass()
                if Task.isCancelled { wasCancelled.isSet = true }
                try Task.checkCancellation()
                return Note("a", "1")
            }.text
        }
        let first = Task { try await ask() }
        #expect(try await eventually(within: 4) { gate.entered.load(ordering: .relaxed) == 1 })
        let second = Task { try await ask() }
        #expect(try await eventually(within: 4) { notes.core.flights.waiting(for: "a") == 2 })
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value == "1")
        #expect(!wasCancelled.isSet)

        notes.delete(archiveWithKey: "a")
        let other = Gate()
        let alone = Task {
            try await notes.asynchronous.value(forKey: "a") {
                await other.pass()
                wasCancelled.isSet = Task.isCancelled
                try Task.checkCancellation()
                return Note("a", "2")
            }.text
        }
        #expect(try await eventually(within: 4) { other.entered.load(ordering: .relaxed) == 1 })
        alone.cancel()
        await #expect(throws: CancellationError.self) { try await alone.value }
        other.open()
        #expect(try await eventually(within: 4) { wasCancelled.isSet })
        #expect(try await ask() == "1", "a new computation")
    }

    @Test("a computation that waits for itself throws") func recursiveComputations() async throws {
        #expect(throws: ArchiveError.self) {
            try notes.value(forKey: "a") { try notes.value(forKey: "a") { throw Failure() } }
        }
        await #expect(throws: ArchiveError.self) {
            try await notes.asynchronous.value(forKey: "a") {
                try await notes.asynchronous.value(forKey: "a") { throw Failure() }
            }
        }
    }

    @Test("computations that wait for each other throw") func deadlocks() async throws {
        let others = try store.factory().archives(for: Note.self)
        func expectRefusal(_ errors: [any Error]) {
            let named = errors.compactMap { error -> Set<String>? in
                guard case ArchiveError.computesEachOther(let key, let other) = error else { return nil }
                return [key, other]
            }
            #expect(named.allSatisfy { $0 == ["a", "b"] } && !named.isEmpty, "\(errors)")
        }
        let begun = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
        let errors = Guarded<[any Error]>([])
        let threads = (0..<2).map { place in
            Background {
                let (mine, its) = place == 0 ? (notes, others) : (others, notes)
                let (key, other) = place == 0 ? ("a", "b") : ("b", "a")
                do {
                    _ = try mine.value(forKey: key) {
                        begun[place].signal()
                        begun[1 - place].wait()
                        _ = try its.value(forKey: other) { throw Failure() }
                        return Note(key)
                    }
                } catch {
                    errors.withLock { $0.append(error) }
                }
            }
        }
        for thread in threads { try thread.wait() }
        expectRefusal(errors.withLock { $0 })

        func ask(_ key: String, for other: String, _ isMine: Gate, _ isIts: Gate) -> Task<Note, any Error> {
            Task {
                try await notes.asynchronous.value(forKey: key) {
                    isMine.open()
                    await isIts.pass()
                    return try await notes.asynchronous.value(forKey: other) { throw Failure() }
                }
            }
        }
        let gates = [Gate(), Gate()]
        let tasks = [ask("a", for: "b", gates[0], gates[1]), ask("b", for: "a", gates[1], gates[0])]
        var thrown: [any Error] = []
        for task in tasks {
            do { _ = try await task.value } catch { thrown.append(error) }
        }
        expectRefusal(thrown)
        // No state of the refused computations is left.
        let last = try notes.value(forKey: "a") {
            _ = try notes.value(forKey: "b") { Note("b") }
            return Note("a")
        }
        #expect(last.primaryKey == "a")
    }

    @Test("one process computes for all") func oneProcessComputes() async throws {
        let made = Counter()
        let handles = try (0..<4).map { _ in try store.factory().archives(for: Note.self) }
        let threads = handles.map { notes in
            Background {
                let note = try notes.value(forKey: "a", waitingForProcesses: .seconds(600)) {
                    made.add()
                    usleep(50_000)
                    return Note("a", "made")
                }
                #expect(note.text == "made")
            }
        }
        #expect(try await eventually(within: 4) { made.value > 0 })
        let last = try await handles[0].asynchronous.value(forKey: "a", waitingForProcesses: .seconds(600)) {
            made.add()
            return Note("a", "made")
        }
        for thread in threads { try thread.wait() }
        #expect(made.value == 1 && last.text == "made")
        // Returns an object that another process renews, and waits for a stopped process no longer than requested.
        let claim = try handles[1].core.archive.claim("a")
        #expect(claim != nil)
        handles[0].record(last, options: .init(expiresIn: .seconds(5)))
        func ask(_ key: String) throws -> String {
            try handles[0].value(
                forKey: key, renewingBefore: .seconds(3_600), waitingForProcesses: .milliseconds(20)
            ) { Note(key, "again") }.text
        }
        #expect(try ask("a") == "made")
        handles[0].delete(archiveWithKey: "a")
        #expect(try ask("a") == "again")
        #expect(try ask("b") == "again", "another key is free")
        withExtendedLifetime(claim) {}
    }

    @Test("an object that expires soon is renewed") func renewal() async throws {
        func note(_ text: String) -> Note { Note("a", text) }
        notes.record(note("1"), options: .init(expiresIn: .seconds(60)))
        #expect(try notes.value(forKey: "a", renewingBefore: .seconds(30)) { note("2") }.text == "1")
        #expect(
            try notes.value(
                forKey: "a", options: .init(expiresIn: .seconds(60)), renewingBefore: .seconds(90)
            ) {
                note("3")
            }.text == "3")
        #expect(
            try notes.value(forKey: "a", renewingBefore: .seconds(90)) { throw Failure() }.text == "3",
            "the present object instead of the error")
        let present = try await notes.asynchronous.value(
            forKey: "a", options: .init(expiresIn: .seconds(600)), renewingBefore: .seconds(90)
        ) { Note("a", "4") }
        #expect(present.text == "3", "returned immediately")
        #expect(try await eventually(within: 4) { notes.peek(archiveWithKey: "a")?.text == "4" })
    }
}
