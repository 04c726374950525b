import Foundation
import StorageEngine
import TestSupport

private func batch(_ number: UInt64) -> Batch {
    var batch = Batch()
    for (key, value) in NumberedBatches.changes(number) {
        if let value { batch.put(value, forKey: key) } else { batch.delete(key) }
    }
    return batch
}

extension NumberedBatches {
    /// The number under one of the keys; 0 before the first batch.
    static func number(in archive: Archive) throws -> UInt64 {
        try archive.withPeek(keys[0]) { number($0) } ?? 0
    }

    /// Describes a snapshot that doesn't have one whole batch: `number` or, if that is `nil`, any.
    static func complaint(of snapshot: ArchiveSnapshot, is number: UInt64? = nil) throws -> String? {
        let number =
            try number ?? snapshot.value(keys[0]).map { bytes in bytes.withUnsafeBytes { self.number($0) } }
            ?? 0
        guard number > 0 else { return nil }
        for (key, value) in changes(number) where try snapshot.value(key) != value {
            let found = try snapshot.value(key).map { bytes in bytes.withUnsafeBytes { self.number($0) } }
            return "snapshot of batch \(number) has \(found.map { "\($0)" } ?? "nothing") under \(key)"
        }
        return nil
    }
}

/// Returns `nil` and says `busy` if constant undos of others prevent a snapshot.
func unlessBusy<Value>(_ body: () throws(StorageError) -> Value) throws -> Value? {
    do throws(StorageError) {
        return try body()
    } catch {
        guard case .busy = error else { throw error }
        say("busy")
        return nil
    }
}

extension WorkerCommand {
    /// `batches STORE ARCHIVE COUNT POINT PASSING`: applies batches 1 to COUNT, says `applied NUMBER` after each, and
    /// is stopped at POINT of the next one. Without a point it continues until it is killed.
    func applyBatches(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open()
        var number = try NumberedBatches.number(in: archive)
        let point = CrashPoint(rawValue: arguments.word(4))
        while point == nil || number < arguments.seed {
            number += 1
            try archive.apply(batch(number))
            say("applied \(number)")
        }
        if let point { CrashPoint.arm(point, passing: arguments.number(5), signal: SIGSTOP) }
        try archive.apply(batch(number + 1))
        say("done")
    }

    /// `watchBatches STORE ARCHIVE SEED STOP-FILE`: says `done LOOKS`, and `! …` for each partial batch.
    func watchBatches(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open(.readOnly)
        var random = SeededGenerator(seed: arguments.seed)
        var looks = 0
        var rounds = 0
        var number: UInt64 = 0
        say("ready")
        while !(rounds % 4 == 0 && exists(arguments.word(4))) {
            let order = NumberedBatches.all.shuffled(using: &random)
            let (seen, complaint) = try NumberedBatches.look(order, atLeast: number) { key in
                try archive.withPeek(key) { NumberedBatches.number($0) }
            }
            if let complaint { say("! \(complaint)") }
            number = seen
            looks += order.count
            rounds += 1
            switch rounds % 12 {
            case 3: try list(archive, &number)
            case 6: try scan(archive, &number, order.first == NumberedBatches.even ? .recency : .location)
            case 9: try takeSnapshot(archive, &number)
            case 10: if number > 0 { say("looked \(looks)") }
            default: break
            }
        }
        say("done \(looks)")
    }

    /// Lists the permanent keys: none may be older than seen before.
    private func list(_ archive: Archive, _ number: inout UInt64) throws {
        let list = try archive.entries()
        var newest = number
        var found = 0
        for place in list.indices {
            guard let key = try list.key(at: place), NumberedBatches.keys.contains(key),
                let seen = try list.withValue(at: place, { NumberedBatches.number($0) })
            else { continue }
            if seen < number || seen == 1 << 63 { say("! list: \(seen) under \(key) after \(number)") }
            newest = max(newest, seen)
            found += 1
        }
        if found > NumberedBatches.keys.count {
            say("! list: \(found) entries of \(NumberedBatches.keys.count) keys")
        }
        number = newest
    }

    /// A scan reads the present state of each entry, so none is older than the one before.
    private func scan(_ archive: Archive, _ number: inout UInt64, _ order: ScanOrder) throws {
        let wasThere = number > 0
        var found = 0
        let scan = try archive.scan(order)
        while try scan.advance() {
            guard try scan.read() == .present else { continue }
            let key = String(decoding: scan.keyBytes, as: UTF8.self)
            guard NumberedBatches.keys.contains(key) else { continue }
            let seen = NumberedBatches.number(scan.valueBuffer)
            if seen < number || seen == 1 << 63 { say("! scan: \(seen) under \(key) after \(number)") }
            number = max(number, seen)
            found += 1
        }
        if wasThere, found != NumberedBatches.keys.count {
            say("! scan: \(found) entries of \(NumberedBatches.keys.count) keys")
        }
    }

    /// A snapshot has one whole batch, not older than seen before.
    private func takeSnapshot(_ archive: Archive, _ number: inout UInt64) throws {
        guard let snapshot = try unlessBusy({ () throws(StorageError) in try archive.snapshot() }) else {
            return
        }
        guard let value = try snapshot.value(NumberedBatches.keys[0]) else {
            if number > 0 { say("! snapshot: nothing after \(number)") }
            return
        }
        let seen = value.withUnsafeBytes { NumberedBatches.number($0) }
        if seen < number { say("! snapshot: \(seen) after \(number)") }
        if let complaint = try NumberedBatches.complaint(of: snapshot, is: seen) { say("! \(complaint)") }
        number = max(number, seen)
    }
}
