import ArchiveQuery
import CBOR
import StorageEngine

/// A value as editable text and back. Only values whose text converts back to equal bytes can be edited.
package struct EditableValue: Sendable {
    package enum Form: Sendable, Hashable {
        /// JSON that is stored unchanged.
        case json
        /// JSON without white space, which is indented for editing.
        case compactJSON
        case cbor
        case text
    }

    package let form: Form
    /// The text for the editor, with a line end.
    package let text: [UInt8]
    package let encoding: ValueEncoding
    private let endsLine: Bool

    package static let mostBytes = ValueContent.decodingLimit

    /// - Throws: why the value can't be edited, in one line.
    package init(_ bytes: [UInt8], encoding: ValueEncoding) throws(SourceError) {
        let value = RecognizedValue(bytes, encoding: encoding)
        if let problem = value.problem { throw SourceError("It is \(problem).") }
        self.encoding = encoding
        let content: [UInt8]
        switch value.form {
        case .bytes: throw SourceError("It is neither JSON, CBOR nor text.")
        case .propertyList:
            throw SourceError("It is a property list; editing it as JSON would change its format.")
        case .text:
            form = .text
            content = bytes
        case .json:
            let compact = try? value.json(.compact)
            form = compact == bytes ? .compactJSON : .json
            content = form == .json ? bytes : (try? value.json(.pretty)) ?? bytes
        case .cbor:
            form = .cbor
            content = try EditableValue.json(of: value)
        }
        endsLine = content.last == EditableValue.lineEnd
        text = endsLine ? content : content + [EditableValue.lineEnd]
    }

    /// A new entry. An object or list becomes CBOR, as `vellum put` stores it, or, if `keepsJSON`, is checked and stored unchanged.
    package init(new text: [UInt8], keepsJSON: Bool = false) {
        let first = text.first { $0 != 0x20 && !(0x09...0x0d ~= $0) }
        let isDocument = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        form = !isDocument ? .text : keepsJSON ? .json : .cbor
        encoding = !isDocument ? .text : keepsJSON ? .json : .cbor
        endsLine = false
        self.text = text
    }

    private static let lineEnd = UInt8(ascii: "\n")

    /// The bytes of an edited text, without a line end that the editor added.
    /// - Throws: the text's error, with its line.
    package func bytes(of edited: [UInt8]) throws(SourceError) -> [UInt8] {
        let text = !endsLine && edited.last == EditableValue.lineEnd ? Array(edited.dropLast()) : edited
        if form == .text {
            guard String(validating: text, as: UTF8.self) != nil else {
                throw SourceError("It is no longer valid UTF-8.")
            }
            return text
        }
        let item: [UInt8]
        do throws(JSONError) {
            // Readers interpret repeated names differently.
            item = try JSONTranscoder.cbor(from: edited, uniqueNames: true, readsBytes: form != .json)
        } catch {
            let place = EditableValue.place(of: error.offset, in: edited)
            throw SourceError("Line \(place.line), column \(place.column): \(error.reason).")
        }
        switch form {
        case .cbor: return item
        case .compactJSON:
            do { return Array(try JSONPrinter.text(of: item).utf8) } catch { throw SourceError("\(error)") }
        case .json, .text: return text
        }
    }

    /// Line and column of a byte, from 1; a column is a character.
    private static func place(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
        let before = text.prefix(offset)
        let start = before.lastIndex(of: lineEnd).map { $0 + 1 } ?? 0
        let line = before.reduce(1) { $0 + ($1 == lineEnd ? 1 : 0) }
        return (line, String(decoding: before[start...], as: UTF8.self).count + 1)
    }

    // MARK: CBOR

    /// - Throws: if JSON would lose something.
    private static func json(of value: RecognizedValue) throws(SourceError) -> [UInt8] {
        guard let json = try? value.json(.pretty),
            let again = try? JSONTranscoder.cbor(from: json, uniqueNames: false, readsBytes: true)
        else { throw SourceError("Its CBOR can't be converted to JSON and back.") }
        guard again != value.item else { return json }
        let losses = (try? CBORReader.decode(value.item)).map(EditableValue.losses) ?? []
        let list = losses.isEmpty ? ["the encoding of its numbers or lengths"] : losses
        throw SourceError(
            "Editing as JSON would lose: \(list.joined(separator: ", ")).")
    }

    /// Values that JSON can't express, each kind once.
    private static func losses(_ value: CBORValue) -> [String] {
        var found: [String] = []
        func note(_ loss: String) { if !found.contains(loss) { found.append(loss) } }
        func visit(_ value: CBORValue) {
            switch value {
            case .undefined, .simple: note("undefined values")
            case .float(let number) where !number.isFinite: note("numbers that aren't finite")
            case .array(let items): items.forEach(visit)
            case .map(let map):
                for entry in map.entries {
                    if entry.key.asString == nil, entry.key.asBytes == nil { note("keys that aren't texts") }
                    visit(entry.value)
                }
            case .tagged(2...4, _): break
            case .tagged(0...1, _): note("dates")
            case .tagged(let tag, _): note(tag == 37 ? "identifiers" : tag == 32 ? "URLs" : "tag \(tag)")
            default: break
            }
        }
        visit(value)
        return found
    }
}
