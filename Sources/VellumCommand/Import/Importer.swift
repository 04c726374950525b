import CBOR
import StorageEngine

/// For one thread. Records what a reader finds into an archive.
struct Importer {
    /// What came of an import.
    struct Outcome {
        var imported = 0
        var skipped = 0
        /// The input ended within a record.
        var isCut = false
        /// Sum of the imported values' sizes in bytes.
        var bytes: UInt64 = 0
        /// It ended before its input did, for a bad record or for what would have failed for every other too.
        var isStopped = false
    }

    let archive: Archive
    let key: KeyProperty
    /// The property whose value alone is recorded; nil: the whole object.
    let value: KeyProperty?
    /// What every entry has besides its value.
    let attributes: EntryAttributes
    let isStrict: Bool

    /// Reads `input` to its end. Reports each bad record on standard error. `outcome` is right also when it throws.
    func run(_ reader: inout some RecordReader, of input: InputBuffer, _ outcome: inout Outcome) throws {
        var progress = ProgressBar()
        var faults = BadRecords(of: input.name)
        defer {
            progress.finish()
            faults.finish()
        }
        // One buffer for all records: nothing is allocated for a record but its key.
        var writer = CBORWriter(capacity: 4096)
        while !Interruption.isRequested, let record = try reader.next(into: &writer) {
            var fault: (line: Int, reason: String)?
            switch record {
            case .value(let line):
                if let reason = try store(writer.bytes, &outcome) { fault = (line, reason) }
            case .bad(let line, let reason):
                fault = (line, reason)
            case .cut(let line, let reason):
                fault = (line, reason)
                outcome.isCut = true
            }
            if let fault {
                progress.finish()
                faults.add(line: fault.line, fault.reason)
                outcome.skipped += 1
                if isStrict {
                    outcome.isStopped = true
                    break
                }
            }
            if (outcome.imported + outcome.skipped) % 1024 == 0 {
                progress.update(done: input.bytesRead, total: input.size, entries: outcome.imported)
            }
        }
    }

    /// Returns why the record is a bad one; throws what would fail for every other record too.
    private func store(_ cbor: [UInt8], _ outcome: inout Outcome) throws(StorageError) -> String? {
        try cbor.withUnsafeBufferPointer { (buffer) throws(StorageError) in
            let object = UnsafeRawBufferPointer(buffer)
            switch key.find(in: object) {
            case .fault(let reason):
                return reason
            case .key(let key):
                var content = object
                if let value {
                    guard let part = value.value(in: object) else {
                        return "there is no property \"\(value.name)\""
                    }
                    content = part
                }
                do throws(StorageError) {
                    try archive.put(
                        bytes: content, forKey: key, encoding: .cbor, attributes: attributes)
                } catch {
                    guard error.isAboutOneEntry else { throw error }
                    return error.description
                }
                outcome.imported += 1
                outcome.bytes += UInt64(content.count)
                return nil
            }
        }
    }
}
