import StorageEngine
import StoreInspection

/// An entry in a person's editor. A value; safe to share between threads.
struct Draft: Sendable {
    let entry: EntryAddress
    /// What was stored when the edit began; nil: the entry is new.
    let stored: StoredValue?
    let editable: EditableValue?
    let file: PrivateFile

    /// Reads an entry and puts its text into a private file.
    /// - Throws: why it can't be edited; one line.
    init(
        editing entry: EntryAddress, in folder: String, from source: any StoreSource
    ) throws(SourceError) {
        if let objection = source.objectionToWriting(in: entry.archive) { throw objection }
        guard let metadata = try source.entry(entry.key, in: entry.archive) else {
            throw SourceError("The entry is gone.")
        }
        guard metadata.valueBytes <= EditableValue.mostBytes else {
            let most = Figures.bytes(UInt64(EditableValue.mostBytes))
            throw SourceError(
                "It is \(Figures.bytes(UInt64(metadata.valueBytes))), and values over \(most) aren't edited here."
            )
        }
        guard let stored = try source.stored(entry.key, in: entry.archive) else {
            throw SourceError("Its value is gone, or in the memory of a process only.")
        }
        self.entry = entry
        self.stored = stored
        let editable = try EditableValue(stored.bytes, encoding: stored.encoding)
        self.editable = editable
        file = try Draft.file(editable.text, isText: editable.form == .text, in: folder)
    }

    /// Begins with an empty text.
    /// - Throws: why there can be no such entry; one line.
    init(
        new entry: EntryAddress, in folder: String, from source: any StoreSource
    ) throws(SourceError) {
        if let objection = source.objectionToWriting(in: entry.archive) { throw objection }
        guard try source.entry(entry.key, in: entry.archive) == nil else {
            throw SourceError("There is an entry of that key already.")
        }
        self.entry = entry
        stored = nil
        editable = nil
        file = try Draft.file([], isText: false, in: folder)
    }

    private static func file(
        _ text: [UInt8], isText: Bool, in folder: String
    ) throws(SourceError) -> PrivateFile {
        let file = try PrivateFile(named: isText ? "value.txt" : "value.json", in: folder)
        let output = file.output
        try output.write(text)
        try output.flush()
        return file
    }

    enum Result: Sendable {
        case unchanged
        /// The editor removed the file, so there is no text any more.
        case removed
        /// It can't be stored as it is; one line.
        case mistaken(String)
        case changed(EditPlan)
    }

    /// Reads what the editor left.
    /// - Throws: where that can't be read.
    func result() throws(SourceError) -> Result {
        guard file.isThere else { return .removed }
        let text = try file.bytes(limit: 2 * EditableValue.mostBytes)
        let before = editable?.text ?? []
        guard text != before, stored != nil || !text.isEmpty else { return .unchanged }
        let editable = editable ?? EditableValue(new: text)
        let bytes: [UInt8]
        do throws(SourceError) {
            bytes = try editable.bytes(of: text)
        } catch {
            return .mistaken(error.description)
        }
        guard bytes != stored?.bytes else { return .unchanged }
        let edit = StoredEdit(
            key: entry.key, bytes: bytes, encoding: editable.encoding, replacing: stored)
        return .changed(
            EditPlan(draft: self, edit: edit, form: editable.form, diff: LineDiff(from: before, to: text)))
    }
}
