import Foundation
import TestSupport
import Testing
import Vellum

@Suite struct BatchesTests {
    private let store = TemporaryStore()

    @Test("a batch is recorded as a whole or not at all") func batchesAreAtomic() async throws {
        let (factory, log) = store.loggedFactory()
        let notes = try factory.archives(for: Note.self, trySetMaxDiskSize: 10_000)
        notes.record(
            all: [Note("a", "1"), Note("b", "1"), Note("a", "2")],
            options: .init(expiresIn: .seconds(36_000), owner: "o"))
        #expect(notes.accessAll().map(\.primaryKey).sorted() == ["a", "b"])
        #expect(notes.access(archiveWithKey: "a")?.text == "2", "the last object of a key counts")
        #expect(notes.owners().map(\.name) == ["o"] && notes.remainingLifetime(for: "b") != nil)
        #expect(throws: StorageError.self) {
            try notes.throwing.record(all: [Note("c"), .sized("d", 6_000), .sized("e", 6_000)])
        }
        #expect(throws: StorageError.self) { try notes.throwing.record(all: [Note("c"), Note("")]) }
        notes.record(all: [Note("c"), Note("")])
        #expect(log.all.count { $0.contains("cannot record all") } == 1)
        #expect(notes.keys() == ["a", "b"], "nothing recorded, nothing evicted")
        try await notes.asynchronous.record(all: [Note("c"), Note("d")])
        #expect(notes.keys() == ["a", "b", "c", "d"])
        notes.delete(keys: ["a", "absent"])
        notes.delete(keys: "b")
        try notes.throwing.delete(keys: ["c"])
        try await notes.perform { try $0.throwing.delete(keys: ["d"]) }
        #expect(notes.count == 0)
        notes.record(all: [])
        notes.delete(keys: [])
        #expect(log.all.count == 1)
    }

    @Test("a batch replaces objects in the memory of all processes") func batchesReplaceMemory() throws {
        let notes = try store.factory().archives(for: Note.self)
        let other = try store.factory().archives(for: Note.self)
        for archives in [notes, other] {
            archives.record(Note("a", "old"))
            #expect(archives.access(archiveWithKey: "a") != nil)
        }
        notes.record(all: [Note("a", "new"), Note("b", "new")])
        #expect(other.access(archiveWithKey: "a")?.text == "new")
        #expect(notes.access(archiveWithKey: "a")?.text == "new")
    }

    @Test("a batch stores properties in their archives") func batchesStoreProperties() throws {
        let factory = store.factory()
        let cars = try factory.archives(for: Car.self)
        cars.record(all: [Car(primaryKey: "c", engine: Engine(primaryKey: "v8", power: 300))])
        #expect(try factory.archives(for: Engine.self).access(archiveWithKey: "v8")?.power == 300)
    }

    @Test("properties are stored only if the transaction is")
    func failedTransactionsStoreNoProperties() throws {
        let factory = store.factory()
        let cars = try factory.archives(for: Car.self, trySetMaxDiskSize: 1_000)
        let engines = try factory.archives(for: Engine.self)
        #expect(throws: StorageError.self) {
            try cars.transaction { transaction in
                for number in 0..<20 {
                    try transaction.record(
                        Car(primaryKey: "\(number)", engine: Engine(primaryKey: "v\(number)", power: number)))
                }
            }
        }
        #expect(cars.count == 0 && engines.count == 0)
        try cars.transaction { transaction in
            for power in [1, 2] {
                try transaction.record(
                    Car(primaryKey: "c", engine: Engine(primaryKey: "v\(power)", power: power)))
            }
        }
        #expect(engines.keys() == ["v2"], "of the final object")
    }

    /// Another process's handle reads both keys of each batch in one transaction. The writer is a thread, since a task would
    /// wait for this one.
    @Test("other processes never read a part of a batch") func noPartialBatches() throws {
        let notes = try store.factory().archives(for: Note.self)
        let other = try store.factory().archives(for: Note.self)
        notes.record(all: [Note("a", "0"), Note("b", "0")])
        let writer = Background {
            for number in 1...2_000 {
                try notes.throwing.record(all: [Note("a", "\(number)"), Note("b", "\(number)")])
            }
        }
        var looks = 0
        while other.peek(archiveWithKey: "b")?.text != "2000" {
            let pair = try other.transaction { transaction in
                (
                    try transaction.access(archiveWithKey: "a")?.text,
                    try transaction.access(archiveWithKey: "b")?.text
                )
            }
            #expect(pair.0 == pair.1)
            looks += 1
        }
        try writer.wait()
        #expect(looks > 0)
    }

    // MARK: Transactions

    @Test("a transaction reads its own changes, others don't") func transactionsReadTheirChanges() throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(Note("a", "1"), options: .init(expiresIn: .seconds(36_000), owner: "o"))
        let read = try notes.transaction { transaction in
            try transaction.update(Note("a", "2"))
            transaction.delete(archiveWithKey: "b")
            try transaction.record(Note("c", "3"), options: .init(owner: "p"))
            let own = try transaction.access(archiveWithKey: "a")?.text
            #expect(notes.peek(archiveWithKey: "a")?.text == "1", "not visible before the commit")
            #expect(try transaction.access(archiveWithKey: "b") == nil)
            return own
        }
        #expect(read == "2")
        #expect(notes.access(archiveWithKey: "a")?.text == "2")
        #expect(notes.keys(ofOwner: "o") == ["a"] && notes.remainingLifetime(for: "a") != nil)
        #expect(notes.keys(ofOwner: "p") == ["c"])
    }

    @Test("a transaction that throws changes nothing") func failedTransactions() throws {
        let notes = try store.factory().archives(for: Note.self)
        #expect(throws: CancellationError.self) {
            try notes.transaction { transaction in
                try transaction.record(Note("a"))
                throw CancellationError()
            }
        }
        #expect(notes.count == 0)
    }

    @Test("a transaction is repeated after a conflict") func conflictingTransactions() throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(Note("a", "1"))
        var calls = 0
        try notes.transaction { transaction in
            calls += 1
            let seen = try transaction.access(archiveWithKey: "a")?.text ?? ""
            if calls == 1 { notes.record(Note("a", "other")) }
            if calls == 2 { notes.delete(archiveWithKey: "a") }
            try transaction.record(Note("b", seen))
        }
        #expect(calls == 3 && notes.statistics?.conflicts == 2)
        #expect(notes.access(archiveWithKey: "b")?.text == "")
    }

    @Test("transfers by threads and processes keep the sum") func transfers() async throws {
        let first = try store.factory().archives(for: Note.self)
        let second = try store.factory().archives(for: Note.self)
        first.record(all: (0..<4).map { Note("\($0)", "1000") })
        try await withThrowingTaskGroup { group in
            for worker in 0..<4 {
                let accounts = worker % 2 == 0 ? first : second
                group.addTask {
                    for step in 0..<150 {
                        let (from, to) = ("\((worker + step) % 4)", "\((worker + step * 3 + 1) % 4)")
                        guard from != to else { continue }
                        try await accounts.perform {
                            try $0.transaction { transaction in
                                guard var one = try transaction.access(archiveWithKey: from),
                                    var two = try transaction.access(archiveWithKey: to)
                                else { return }
                                one.text = "\((Int(one.text) ?? 0) - step)"
                                two.text = "\((Int(two.text) ?? 0) + step)"
                                try transaction.update(one)
                                try transaction.update(two)
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(second.accessAll().reduce(0) { $0 + (Int($1.text) ?? 0) } == 4_000)
    }
}
