import CBOR
import StorageEngine

/// For one thread. Takes what a reader finds, record by record.
struct Importer {
    struct Outcome {
        var imported = 0
        var skipped = 0
        /// Strings and fields that spell byte strings, and were read as these.
        var byteStrings = 0
        /// The input ended within a record.
        var isCut = false
        var bytes: UInt64 = 0
        /// It ended before its input did, for a bad record or for what would have failed for every other too.
        var isStopped = false
    }

    let isStrict: Bool
    /// Stores a record. Returns its bytes, or why it is a bad one; throws what would fail for every other record too.
    let store: (UnsafeRawBufferPointer) throws -> ImportedRecord

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
                let cbor = writer.bytes
                switch try cbor.withUnsafeBytes({ try store($0) }) {
                case .stored(let bytes):
                    outcome.imported += 1
                    outcome.bytes += UInt64(bytes)
                    outcome.byteStrings += cbor.withUnsafeBytes { JSONForms(of: $0).byteStrings }
                case .bad(let reason): fault = (line, reason)
                }
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
}

enum ImportedRecord {
    case stored(bytes: Int)
    case bad(String)
}

/// For one thread. Records objects into an archive.
struct ArchiveImport {
    let archive: Archive
    let key: KeyProperty
    /// The property whose value alone is recorded; nil: the whole object.
    let value: KeyProperty?
    let attributes: EntryAttributes

    func store(_ object: UnsafeRawBufferPointer) throws(StorageError) -> ImportedRecord {
        switch key.find(in: object) {
        case .fault(let reason): return .bad(reason)
        case .key(let key):
            guard let content = KeyProperty.content(of: object, value) else {
                return .bad(KeyProperty.absence(value))
            }
            do throws(StorageError) {
                try archive.put(bytes: content, forKey: key, encoding: .cbor, attributes: attributes)
            } catch {
                guard error.isAboutOneEntry else { throw error }
                return .bad(error.description)
            }
            return .stored(bytes: content.count)
        }
    }
}
