import ArchiveQuery
import Foundation
import StorageEngine
import Vellum

struct Operation: Sendable {
    let name: String
    /// Executed less often.
    var isCostly = false
    /// The number of operations in a call.
    var parts = 1
    /// Executes the operation once. Numbers start at 0 and include warm-up.
    let body: @Sendable (_ subjects: Subjects, _ number: Int) throws -> Void

    /// The counts of the first operation are subtracted from all others.
    static let all: [Operation] = [
        Operation(name: "nothing") { _, _ in },
        Operation(name: "put, a new key") { subjects, number in
            try subjects.value.withUnsafeBytes {
                try subjects.collection.put(bytes: $0, forKey: subjects.new[number])
            }
        },
        Operation(name: "put, an existing key") { subjects, number in
            try subjects.value.withUnsafeBytes {
                try subjects.collection.put(bytes: $0, forKey: subjects.present[number])
            }
        },
        Operation(name: "put that evicts") { subjects, number in
            try subjects.value.withUnsafeBytes {
                try subjects.full.put(bytes: $0, forKey: subjects.new[number])
            }
        },
        Operation(name: "a put of ten in a batch", isCostly: true, parts: 10) { subjects, number in
            var batch = Batch()
            for place in 0..<10 {
                batch.put(subjects.value, forKey: subjects.new[(number * 10 + place) % 4_000])
            }
            _ = try subjects.collection.apply(batch)
        },
        Operation(name: "access in place") { subjects, number in
            let found = try subjects.collection.withAccess(subjects.present[number]) { $0.count }
            guard found == 200 else { throw Failure.wrongAnswer }
        },
        Operation(name: "access to a copy") { subjects, number in
            let found = try subjects.collection.access(subjects.present[number])
            guard found?.count == 200 else { throw Failure.wrongAnswer }
        },
        Operation(name: "access, no such key") { subjects, number in
            guard try subjects.full.access(subjects.present[number]) == nil else { throw Failure.wrongAnswer }
        },
        Operation(name: "peek in place") { subjects, number in
            let found = try subjects.collection.withPeek(subjects.present[number]) { $0.count }
            guard found == 200 else { throw Failure.wrongAnswer }
        },
        Operation(name: "delete") { subjects, number in
            guard try subjects.collection.delete(subjects.present[number]) else { throw Failure.wrongAnswer }
        },
        Operation(name: "append to a log") { subjects, _ in
            _ = try subjects.value.withUnsafeBytes { try subjects.log.append(bytes: $0) }
        },
        Operation(name: "list an entry", isCostly: true, parts: Subjects.few) { subjects, _ in
            guard try subjects.few.entries().count == Subjects.few else { throw Failure.wrongAnswer }
        },
        Operation(name: "query an entry", isCostly: true, parts: Subjects.few) { subjects, _ in
            var options = QueryOptions()
            (options.mostThreads, options.looksForMistakes) = (1, false)
            try subjects.plan.run(over: subjects.few, options: options) { _ in true }
        },
        Operation(name: "open an archive to read", isCostly: true) { subjects, _ in
            let store = try Store.open(at: subjects.path, mode: .readOnly)
            guard try store.archive(named: "Few").status().entries == Subjects.few else {
                throw Failure.wrongAnswer
            }
            store.close()
        },
        Operation(name: "open an archive to write", isCostly: true) { subjects, number in
            let store = try Store.open(at: subjects.path)
            try store.archive(named: "Few").put(subjects.value, forKey: "one more")
            try store.archive(named: "Few").delete("one more")
            store.close()
        },
        Operation(name: "record an object") { subjects, number in
            subjects.typed.record(subjects.items[number])
        },
        Operation(name: "access an object in memory") { subjects, number in
            guard subjects.typed.access(archiveWithKey: subjects.new[number]) != nil else {
                throw Failure.wrongAnswer
            }
        },
        Operation(name: "access an object on disk") { subjects, number in
            guard subjects.onDisk.access(archiveWithKey: subjects.new[number]) != nil else {
                throw Failure.wrongAnswer
            }
        },
    ]

    func times(in pass: Pass) -> Int { isCostly ? pass.timesOfCostly : pass.times }

    /// The count of a pass for one operation.
    func share(_ count: Int, _ pass: Pass) -> Double { Double(count) / Double(times(in: pass) * parts) }

    enum Failure: Error { case wrongAnswer, notTraced(String) }
}
