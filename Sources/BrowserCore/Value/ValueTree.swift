import CBOR

/// A structured value as rows of a tree, in the order in which it is read. Immutable; safe to share between
/// threads.
public struct ValueTree: Sendable {
    public enum Kind: Sendable, Hashable {
        case map, array, text, number, boolean, null, bytes, date, other
    }

    public struct Node: Sendable, Hashable {
        /// 0 for the value itself.
        public let depth: Int
        /// The property's name, or the position in an array.
        public let name: String
        /// A leaf's value, or how much a container holds.
        public let value: String
        public let kind: Kind
        /// The node after the last one inside this one.
        public fileprivate(set) var end: Int
        public let parent: Int?

        public var isContainer: Bool { kind == .map || kind == .array }
    }

    /// Values with more nodes are cut, so that a hostile one can't fill memory.
    public static let maximumNodes = 200_000
    /// Characters of a leaf that are kept; the text view shows all of it.
    static let maximumLeaf = 4_096

    public private(set) var nodes: [Node] = []
    /// Whether the value has more nodes than are kept.
    public private(set) var isCut = false

    public init(_ value: CBORValue) {
        append(value, name: "", depth: 0, parent: nil)
    }

    private mutating func append(_ value: CBORValue, name: String, depth: Int, parent: Int?, tag: String = "")
    {
        guard nodes.count < ValueTree.maximumNodes else {
            isCut = true
            return
        }
        let index = nodes.count
        if case .tagged(let number, let content) = value {
            if let (text, kind) = ValueTree.describe(tag: number, content) {
                nodes.append(
                    Node(
                        depth: depth, name: name, value: tag + text, kind: kind, end: index + 1,
                        parent: parent))
                return
            }
            append(content, name: name, depth: depth, parent: parent, tag: "\(tag)tag \(number) ")
            return
        }
        let (text, kind) = ValueTree.describe(value)
        nodes.append(
            Node(depth: depth, name: name, value: tag + text, kind: kind, end: index + 1, parent: parent))
        switch value {
        case .array(let items):
            for (position, item) in items.enumerated() {
                append(item, name: String(position), depth: depth + 1, parent: index)
            }
        case .map(let map):
            for entry in map.entries {
                let name = entry.key.asString ?? ValueTree.describe(entry.key).text
                append(entry.value, name: name, depth: depth + 1, parent: index)
            }
        default: break
        }
        nodes[index].end = nodes.count
    }

    /// What tags of RFC 8949 and of the registry say in words that a person reads; `nil`: only the tag's number can be
    /// told. Big integers and decimal fractions (tags 2 to 4) are the numbers they are.
    private static func describe(tag: UInt64, _ content: CBORValue) -> (text: String, kind: Kind)? {
        switch (tag, content) {
        case (0, .text(let text)): return ("date \(text.prefix(maximumLeaf))", .date)
        case (1, _): return content.asSeconds.flatMap(dateText).map { ($0, .date) }
        case (2...4, _):
            let text = try? JSONPrinter.text(of: CBORValue.tagged(tag, content).encoded)
            return text?.first.map { $0.isNumber || $0 == "-" } == true ? (text ?? "", .number) : nil
        case (32, .text(let text)): return ("URL \"\(text.prefix(maximumLeaf))\"", .text)
        case (37, .bytes(let bytes)) where bytes.count == UUIDText.bytes:
            return ("UUID \(UUIDText.text(of: bytes))", .other)
        default: return nil
        }
    }

    /// A moment, as seconds since 1970; `nil` far outside of our calendar, where the number says more.
    private static func dateText(_ seconds: Double) -> String? {
        guard abs(seconds) < 250_000_000_000 else { return nil }
        let milliseconds = Int64((seconds * 1000).rounded())
        let fraction = (milliseconds % 1000 + 1000) % 1000
        let digits = fraction == 0 ? "" : "." + String(fraction + 1000).dropFirst()
        let whole = Moment(microseconds: (milliseconds - fraction) * 1000)
        return "date \(Figures.date(whole))\(digits) UTC"
    }

    private static func describe(_ value: CBORValue) -> (text: String, kind: Kind) {
        switch value {
        case .unsigned(let number): return (String(number), .number)
        // -1 - n; the lowest of them has no Int64.
        case .negative(.max): return ("-18446744073709551616", .number)
        case .negative(let number): return ("-\(number + 1)", .number)
        case .float(let number): return (ValueTree.describe(number), .number)
        case .text(let text): return ("\"\(text.prefix(maximumLeaf))\"", .text)
        case .boolean(let flag): return (flag ? "true" : "false", .boolean)
        case .null: return ("null", .null)
        case .undefined: return ("undefined", .null)
        case .simple(let simple): return ("simple \(simple.rawValue)", .other)
        case .bytes(let bytes):
            let digits = bytes.prefix(32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            let rest = bytes.count > 32 ? ".. " : " "
            return ("h'\(digits.joined())'\(rest)\(Figures.bytes(UInt64(bytes.count)))", .bytes)
        case .array(let items): return ("[\(Figures.count(items.count))]", .array)
        case .map(let map): return ("{\(Figures.count(map.entries.count))}", .map)
        case .tagged: return ("", .other)
        }
    }

    private static func describe(_ number: Double) -> String {
        guard number.isFinite, number == number.rounded(), abs(number) < 1e15 else { return "\(number)" }
        return number.sign == .minus && number == 0 ? "-0.0" : "\(Int64(number)).0"
    }

    /// Where a node stands, such as `$.tags[2].name`.
    public func path(of index: Int) -> String {
        var parts: [String] = []
        var current: Int? = index
        while let node = current, let parent = nodes[node].parent {
            let name = nodes[node].name
            if nodes[parent].kind == .array {
                parts.append("[\(name)]")
            } else {
                let isPlain = !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
                parts.append(isPlain ? ".\(name)" : "[\"\(name)\"]")
            }
            current = parent
        }
        return "$" + parts.reversed().joined()
    }

    /// The nodes that are to be seen while some containers are folded.
    public func visible(folded: Set<Int>) -> [Int] {
        var visible: [Int] = []
        var index = 0
        while index < nodes.count {
            visible.append(index)
            index = folded.contains(index) ? nodes[index].end : index + 1
        }
        return visible
    }

    /// What is folded at first: nothing in a small value, else everything below the first level.
    public var initiallyFolded: Set<Int> {
        guard nodes.count > 300 else { return [] }
        return Set(nodes.indices.filter { nodes[$0].depth >= 1 && nodes[$0].isContainer })
    }

    /// Whether a node's name or value holds a text, whatever its case.
    func matches(_ index: Int, _ pattern: KeyPattern) -> Bool {
        pattern.matches(nodes[index].name) || !nodes[index].isContainer && pattern.matches(nodes[index].value)
    }
}

extension CBORValue {
    /// A number of seconds, whole or not.
    fileprivate var asSeconds: Double? {
        switch self {
        case .unsigned(let number): Double(number)
        case .negative(let number): -1 - Double(number)
        case .float(let number) where number.isFinite: number
        default: nil
        }
    }
}
