import ArchiveQuery
import CBOR
import StorageEngine

/// What a value's bytes turned out to be. Immutable; safe to share between threads.
package struct ValueContent: Sendable {
    /// For the line above the value: `CBOR`, `JSON`, `text`, `PNG image`, `bytes`.
    package let name: String
    package let tree: ValueTree?
    /// The value, or its beginning, as text.
    package let text: String?
    /// Why it isn't shown as what it says it is; one line.
    package let problem: String?

    /// Longer values are neither decoded into a tree nor looked at as text as a whole.
    package static let decodingLimit = 8 << 20
    /// Bytes of a long text that the text view shows.
    package static let textLimit = 256 << 10

    /// Decodes a value whose first `bytes.count` of `total` bytes are known. Time linear in the bytes.
    package init(_ bytes: [UInt8], total: Int, encoding: ValueEncoding) {
        let said = encoding.label
        let text = ValueContent.text(bytes)
        guard bytes.count == total else {
            name = said ?? ValueContent.signature(bytes) ?? (text == nil ? "bytes" : "text")
            tree = nil
            self.text = text
            problem =
                said == nil || encoding == .text
                ? nil : "\(Figures.bytes(UInt64(total))): too long for a tree"
            return
        }
        let value = RecognizedValue(bytes, encoding: encoding)
        var document: CBORValue?
        var problem = value.problem
        if value.form.isDocument {
            do { document = try CBORReader.decode(value.item) } catch { problem = "not valid CBOR: \(error)" }
        }
        tree = document.map { ValueTree(value.form == .cbor ? $0.openingPropertyLists() : $0) }
        let found = ValueContent.name(of: value.form, document, bytes)
        name = value.form == .propertyList ? found : said ?? found
        // People read JSON more easily than a notation of binary formats' own.
        let isSpelled = value.form == .cbor || value.form == .propertyList && text == nil
        self.text = isSpelled ? ValueContent.json(value) : text
        self.problem = problem
    }

    private static func name(of form: ValueForm, _ document: CBORValue?, _ bytes: [UInt8]) -> String {
        switch form {
        case .cbor: "CBOR"
        case .json: "JSON"
        case .propertyList:
            document?.asMap?[key: "$archiver"] == nil ? "property list" : "keyed archive"
        case .text, .bytes: signature(bytes) ?? (bytes.isEmpty ? "empty" : form == .text ? "text" : "bytes")
        }
    }

    /// As indented JSON; at most ``textLimit`` bytes.
    private static func json(_ value: RecognizedValue) -> String? {
        (try? value.json(.pretty)).map { String(decoding: $0.prefix(textLimit), as: UTF8.self) }
    }

    /// The bytes as text if they are one, by the rule of ``RecognizedValue``; at most ``textLimit`` bytes.
    private static func text(_ bytes: [UInt8]) -> String? {
        var head = bytes.prefix(textLimit)
        // A cut may fall inside a character.
        for _ in 0..<4 {
            if let text = String(validating: head, as: UTF8.self) { return head.contains(0) ? nil : text }
            guard !head.isEmpty, bytes.count >= textLimit || head.count < bytes.count else { return nil }
            head.removeLast()
        }
        return nil
    }

    /// The name of a file format by the bytes that begin it.
    private static func signature(_ bytes: [UInt8]) -> String? {
        let known: [(begins: [UInt8], name: String)] = [
            ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "PNG image"),
            ([0xff, 0xd8, 0xff], "JPEG image"),
            (Array("GIF8".utf8), "GIF image"),
            (Array("%PDF-".utf8), "PDF"), ([0x1f, 0x8b], "gzip data"), ([0x50, 0x4b, 3, 4], "zip archive"),
            (Array("<?xml".utf8), "XML"),
        ]
        return known.first { bytes.starts(with: $0.begins) }?.name
    }
}
