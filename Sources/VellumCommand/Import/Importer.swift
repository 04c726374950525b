import CBOR

/// Imports the records of a reader. For one thread.
struct Importer {
    struct Outcome {
        var imported = 0
        var skipped = 0
        /// Strings and fields that spell byte strings and were stored as bytes.
        var byteStrings = 0
        var isCut = false
        var bytes: UInt64 = 0
        /// Whether a bad record, or an error that would also fail for every other record, ended the import early.
        var isStopped = false
    }

    let isStrict: Bool
    /// Stores a record. Returns its size, or why it can't be imported; throws errors that would also fail for every other record.
    let store: (UnsafeRawBufferPointer) throws -> ImportedRecord

    /// Reads `input` to its end. Reports bad records on standard error. `outcome` is valid also after an error.
    func run(_ reader: inout some RecordReader, of input: InputBuffer, _ outcome: inout Outcome) throws {
        var progress = ProgressBar()
        var faults = BadRecords(of: input.name)
        defer {
            progress.finish()
            faults.finish()
        }
        // One buffer for all records: only the key of each is allocated.
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
            case .bad(let line, let reason): fault = (line, reason)
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

/// Stores objects in an archive. For one thread.
struct ArchiveImport {
    let archive: Archive
    let key: KeyProperty
    /// The property whose value is stored; nil: the whole object.
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
