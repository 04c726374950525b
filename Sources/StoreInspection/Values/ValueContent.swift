import ArchiveQuery
import CBOR
import StorageEngine

package struct ValueContent: Sendable {
    /// The format: `CBOR`, `JSON`, `text`, `PNG image`, `bytes`.
    package let name: String
    package let tree: ValueTree?
    /// Whether the examined bytes are text.
    package let isText: Bool
    /// The JSON of a binary value, in UTF-8.
    package let spelling: [UInt8]?
    package let isSpellingCut: Bool
    /// Whether ``EditableValue`` accepts its format.
    package let isEditable: Bool
    /// Whether the value exceeds ``decodingLimit``.
    package let isTooLong: Bool
    /// Why it doesn't match its declared encoding, in one line.
    package let problem: String?

    /// Maximum bytes of a value that is decoded into a tree.
    package static let decodingLimit = 8 << 20
    /// Bytes examined of a longer value.
    package static let headLimit = 256 << 10
    /// Maximum bytes of ``spelling``: JSON of nested values may be far longer than the value.
    static let spellingLimit = 64 << 20

    /// Decodes a value whose first `bytes.count` of `total` bytes are known. Time linear in the bytes.
    package init(_ bytes: [UInt8], total: Int, encoding: ValueEncoding) {
        let said = encoding.label
        isText = ValueContent.isText(bytes)
        guard bytes.count == total else {
            name = said ?? ValueContent.signature(bytes, withSize: true) ?? (isText ? "text" : "bytes")
            (tree, problem, spelling, isSpellingCut, isEditable) = (nil, nil, nil, false, false)
            isTooLong = said == nil ? ValueContent.seemsStructured(bytes) : encoding != .text
            return
        }
        isTooLong = false
        let value = RecognizedValue(bytes, encoding: encoding)
        var document: CBORValue?
        var problem = value.problem
        if value.form.isDocument {
            do { document = try CBORReader.decode(value.item) } catch { problem = "not valid CBOR: \(error)" }
        }
        tree = document.map { ValueTree(value.form == .cbor ? $0.decodingPropertyLists() : $0) }
        let found = ValueContent.name(of: value.form, document, bytes)
        name = value.form == .propertyList ? found : said ?? found
        let isSpelled = value.form == .cbor || value.form == .propertyList && !isText
        let json = isSpelled ? try? value.json(.pretty) : nil
        isSpellingCut = json.map { $0.count > ValueContent.spellingLimit } ?? false
        spelling = isSpellingCut ? json.map { Array($0.prefix(ValueContent.spellingLimit)) } : json
        self.problem = problem
        isEditable = value.problem == nil && value.form != .bytes && value.form != .propertyList
    }

    /// The format of a complete value.
    package static func kind(of bytes: [UInt8], encoding: ValueEncoding) -> String {
        let form = RecognizedValue(bytes, encoding: encoding).form
        if form == .propertyList { return "property list" }
        return encoding.label ?? name(of: form, nil, bytes, withSize: false)
    }

    private static func name(
        of form: ValueForm, _ document: CBORValue?, _ bytes: [UInt8], withSize: Bool = true
    ) -> String {
        switch form {
        case .cbor: "CBOR"
        case .json: "JSON"
        case .propertyList: document?.asMap?[key: "$archiver"] == nil ? "property list" : "keyed archive"
        case .text, .bytes:
            signature(bytes, withSize: withSize)
                ?? (bytes.isEmpty ? "empty" : form == .text ? "text" : "bytes")
        }
    }

    /// Whether bytes, or their beginning, are text, by the rule of ``RecognizedValue``.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        let head = bytes.prefix(headLimit)
        return !head.contains(0) && MessageText.text(head, isCut: bytes.count >= headLimit) != nil
    }

    /// Whether a value of unknown encoding begins as JSON, a CBOR map or list, or a property list.
    private static func seemsStructured(_ bytes: [UInt8]) -> Bool {
        let first = bytes.first { $0 != 0x20 && !(0x09...0x0d ~= $0) } ?? 0
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || (0x80..<0xc0).contains(first)
            || bytes.starts(with: Array("bplist".utf8)) || bytes.starts(with: Array("<?xml".utf8))
    }

    private static func signature(_ bytes: [UInt8], withSize: Bool) -> String? {
        let known: [(begins: [UInt8], name: String)] = [
            (Array("%PDF-".utf8), "PDF"), ([0x1f, 0x8b], "gzip data"), ([0x50, 0x4b, 3, 4], "zip archive"),
            (Array("<?xml".utf8), "XML"),
        ]
        return ImageKind.name(bytes, withSize: withSize)
            ?? known.first { bytes.starts(with: $0.begins) }?.name
    }
}
