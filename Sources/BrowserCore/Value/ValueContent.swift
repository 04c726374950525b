import CBOR

/// What a value's bytes turned out to be. Immutable; safe to share between threads.
public struct ValueContent: Sendable {
    /// For the line above the value: `CBOR`, `JSON`, `text`, `PNG image`, `bytes`.
    public let name: String
    public let tree: ValueTree?
    /// The value, or its beginning, as text.
    public let text: String?
    /// Why it isn't shown as what it says it is; one line.
    public let problem: String?

    /// Longer values are neither decoded into a tree nor looked at as text as a whole.
    public static let decodingLimit = 8 << 20
    /// Bytes of a long text that the text view shows.
    public static let textLimit = 256 << 10

    /// Decodes a value whose first `bytes.count` of `total` bytes are known. Time linear in the bytes.
    public init(_ bytes: [UInt8], total: Int, notation: ValueNotation) {
        let isWhole = bytes.count == total
        switch notation {
        case .cbor:
            let (tree, problem) = ValueContent.tree(fromCBOR: bytes, isWhole: isWhole, total: total)
            let text = tree == nil ? ValueContent.text(bytes) : ValueContent.json(bytes)
            self.init(name: "CBOR", tree: tree, text: text, problem: problem)
        case .json:
            let (tree, problem) = ValueContent.tree(fromJSON: bytes, isWhole: isWhole, total: total)
            self.init(name: "JSON", tree: tree, text: ValueContent.text(bytes), problem: problem)
        case .text:
            let text = ValueContent.text(bytes)
            let problem = text == nil && !bytes.isEmpty ? "not valid UTF-8, shown as bytes" : nil
            self.init(name: "text", tree: nil, text: text, problem: problem)
        case .propertyList:
            self.init(name: "property list", tree: nil, text: ValueContent.text(bytes), problem: nil)
        case .unknown:
            self.init(guessing: bytes, isWhole: isWhole, total: total)
        }
    }

    private init(guessing bytes: [UInt8], isWhole: Bool, total: Int) {
        if let name = ValueContent.signature(bytes) {
            self.init(name: name, tree: nil, text: ValueContent.text(bytes), problem: nil)
            return
        }
        let first = bytes.first { !($0 == 0x20 || 0x09...0x0d ~= $0) }
        if isWhole, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            let (tree, _) = ValueContent.tree(fromJSON: bytes, isWhole: isWhole, total: total)
            if tree != nil {
                self.init(name: "JSON", tree: tree, text: ValueContent.text(bytes), problem: nil)
                return
            }
        }
        if let text = ValueContent.text(bytes) {
            self.init(name: bytes.isEmpty ? "empty" : "text", tree: nil, text: text, problem: nil)
            return
        }
        // Nearly any few bytes are well-formed CBOR, so only what holds something counts.
        if isWhole, bytes.count > 1, let first = bytes.first, (0x80...0xbf).contains(first),
            let tree = ValueContent.tree(fromCBOR: bytes, isWhole: true, total: total).tree
        {
            self.init(name: "CBOR", tree: tree, text: ValueContent.json(bytes), problem: nil)
            return
        }
        self.init(name: "bytes", tree: nil, text: nil, problem: nil)
    }

    private init(name: String, tree: ValueTree?, text: String?, problem: String?) {
        self.name = name
        self.tree = tree
        self.text = text
        self.problem = problem
    }

    private static func tree(
        fromCBOR bytes: [UInt8], isWhole: Bool, total: Int
    ) -> (tree: ValueTree?, problem: String?) {
        guard isWhole else { return (nil, "\(Figures.bytes(UInt64(total))): too long for a tree") }
        do throws(CBORError) {
            return (ValueTree(try CBORReader.decode(bytes)), nil)
        } catch {
            return (nil, "not valid CBOR: \(error)")
        }
    }

    private static func tree(
        fromJSON bytes: [UInt8], isWhole: Bool, total: Int
    ) -> (tree: ValueTree?, problem: String?) {
        guard isWhole else { return (nil, "\(Figures.bytes(UInt64(total))): too long for a tree") }
        do throws(JSONError) {
            let cbor = try JSONTranscoder.cbor(from: bytes)
            return tree(fromCBOR: cbor, isWhole: true, total: total)
        } catch {
            return (nil, "not valid JSON: \(error)")
        }
    }

    /// CBOR as indented JSON, which people read more easily than any notation of its own.
    private static func json(_ cbor: [UInt8]) -> String? {
        guard let text = try? JSONPrinter.text(of: cbor, layout: .pretty) else { return nil }
        return text.utf8.count <= textLimit
            ? text : String(decoding: text.utf8.prefix(textLimit), as: UTF8.self)
    }

    /// The bytes as text if they are UTF-8 without controls other than white space; at most ``textLimit`` bytes.
    private static func text(_ bytes: [UInt8]) -> String? {
        var head = bytes.prefix(textLimit)
        // A cut may fall inside a character.
        for _ in 0..<4 {
            if let text = String(validating: head, as: UTF8.self) {
                let isPlain = text.utf8.allSatisfy {
                    $0 >= 0x20 && $0 != 0x7f || 0x09...0x0d ~= $0 || $0 == 0x1b
                }
                return isPlain ? text : nil
            }
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
            (Array("GIF8".utf8), "GIF image"), (Array("bplist00".utf8), "binary property list"),
            (Array("%PDF-".utf8), "PDF"), ([0x1f, 0x8b], "gzip data"), ([0x50, 0x4b, 3, 4], "zip archive"),
            (Array("<?xml".utf8), "XML"),
        ]
        return known.first { bytes.starts(with: $0.begins) }?.name
    }
}
