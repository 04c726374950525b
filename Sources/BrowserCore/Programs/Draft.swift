import ServerInspection
import StorageEngine
import StoreInspection

struct Draft: Sendable {
    let entry: EntryAddress
    /// The edited part of a server's value; nil: the whole value.
    let element: ValueElement?
    /// The value when the edit began; nil: a new entry.
    let stored: StoredValue?
    let editable: EditableValue?
    let file: PrivateFile
    private let keepsJSON: Bool

    /// - Throws: why it can't be edited, in one line.
    init(
        editing entry: EntryAddress, _ element: ValueElement?, in folder: String, from source: any StoreSource
    ) throws(SourceError) {
        let value: StoredValue?
        if let element {
            value = try source.stored(element, of: entry.key, in: entry.archive)
        } else {
            value = try Draft.whole(entry, source)
        }
        guard let stored = value else {
            throw SourceError("The value was removed, or is only in the memory of a process.")
        }
        (self.entry, self.element, self.stored, keepsJSON) = (entry, element, stored, source.storesJSON)
        let editable = try EditableValue(stored.bytes, encoding: stored.encoding)
        self.editable = editable
        file = try Draft.file(editable.text, isText: editable.form == .text, in: folder)
    }

    private static func whole(
        _ entry: EntryAddress, _ source: any StoreSource
    ) throws(SourceError) -> StoredValue? {
        if let reason = source.readOnlyReason(entry.key, in: entry.archive) { throw reason }
        source.allowUse(of: entry.key, in: entry.archive)
        guard let metadata = try source.entry(entry.key, in: entry.archive) else {
            throw SourceError("The entry no longer exists.")
        }
        guard metadata.valueBytes <= EditableValue.mostBytes else {
            let most = Figures.bytes(UInt64(EditableValue.mostBytes))
            throw SourceError(
                "The value has \(Figures.bytes(UInt64(metadata.valueBytes))); the limit of edits is \(most)."
            )
        }
        return try source.stored(entry.key, in: entry.archive)
    }

    /// - Throws: why the entry can't be created, in one line.
    init(new entry: EntryAddress, in folder: String, from source: any StoreSource) throws(SourceError) {
        if try source.contains(entry.key, in: entry.archive) { throw SourceError("The key is in use.") }
        if let reason = source.readOnlyReason(entry.key, in: entry.archive) { throw reason }
        (self.entry, element) = (entry, nil)
        (stored, editable, keepsJSON) = (nil, nil, source.storesJSON)
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
        case removed
        /// Why the text can't be stored, in one line.
        case invalid(String)
        case changed(EditPlan)
    }

    func result() throws(SourceError) -> Result {
        guard file.exists else { return .removed }
        let text = try file.bytes(limit: 2 * EditableValue.mostBytes)
        let before = editable?.text ?? []
        guard text != before, stored != nil || !text.isEmpty else { return .unchanged }
        let editable = editable ?? EditableValue(new: text, keepsJSON: keepsJSON)
        let bytes: [UInt8]
        do throws(SourceError) {
            bytes = try editable.bytes(of: text)
        } catch {
            return .invalid(error.description)
        }
        guard bytes != stored?.bytes else { return .unchanged }
        if element?.accepts(bytes) == false { return .invalid("A score is \(ValueElement.scores).") }
        let edit = StoredEdit(
            key: entry.key, element: element, bytes: bytes, encoding: editable.encoding, replacing: stored)
        return .changed(
            EditPlan(draft: self, edit: edit, form: editable.form, diff: LineDiff(from: before, to: text)))
    }
}
