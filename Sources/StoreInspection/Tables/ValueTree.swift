import ArchiveQuery
import CBOR
import StorageEngine

package struct ValueTree: Sendable {
    package enum Kind: Sendable, Hashable {
        case map, array, text, number, boolean, null, bytes, other
    }

    package enum Content: Sendable, Hashable {
        case text(String)
        case bytes([UInt8])
    }

    package struct Node: Sendable, Hashable {
        package let depth: Int
        package let name: String
        package let value: String
        package let kind: Kind
        /// The node after the last one inside this one.
        package fileprivate(set) var end: Int
        package let parent: Int?
        package let content: Content?

        package var isContainer: Bool { kind == .map || kind == .array }
    }

    /// Maximum nodes; larger values are cut.
    package static let maximumNodes = 200_000
    /// Maximum characters of a leaf's row; ``Node/content`` has all.
    static let maximumLeaf = 4_096

    package private(set) var nodes: [Node] = []
    package private(set) var isCut = false

    package init(_ value: CBORValue) { append(value, name: "", depth: 0, parent: nil) }

    private mutating func append(_ value: CBORValue, name: String, depth: Int, parent: Int?, tag: String = "")
    {
        guard nodes.count < ValueTree.maximumNodes else {
            isCut = true
            return
        }
        let index = nodes.count
        var (shown, inner) = (ValueTree.describe(value), value)
        if case .tagged(let number, let content) = value {
            guard let scalar = ValueTree.scalar(tag: number, value, content) else {
                return append(
                    content, name: name, depth: depth, parent: parent, tag: "\(tag)tag \(number) ")
            }
            (shown, inner) = (scalar, content)
        }
        nodes.append(
            Node(
                depth: depth, name: name, value: tag + shown.text, kind: shown.kind, end: index + 1,
                parent: parent, content: ValueTree.content(inner)))
        switch value {
        case .array(let items):
            for (position, item) in items.enumerated() {
                append(item, name: String(position), depth: depth + 1, parent: index)
            }
        case .map(let map):
            for entry in map.entries {
                append(entry.value, name: entry.key.memberName, depth: depth + 1, parent: index)
            }
        default: break
        }
        nodes[index].end = nodes.count
    }

    /// Tagged values in words: numbers (2 to 4), times (1), URLs (32) and UUIDs (37).
    private static func scalar(
        tag: UInt64, _ value: CBORValue, _ content: CBORValue
    ) -> (text: String, kind: Kind)? {
        switch tag {
        case 1: return content.asDouble.flatMap(moment).map { ($0, .other) }
        case 2...4:
            let text = try? JSONPrinter.text(of: value.encoded)
            guard let text, text.first?.isNumber == true || text.first == "-" else { return nil }
            return (text, .number)
        case 32:
            guard case .text = content else { return nil }
            return describe(content)
        case 37:
            guard case .bytes(let bytes) = content, bytes.count == 16 else { return nil }
            return (try? JSONPrinter.text(of: value.encoded)).map {
                (String($0.dropFirst().dropLast()), .other)
            }
        default: return nil
        }
    }

    /// Seconds since 1970 as `2026-01-31 12:09:41.25 UTC`; nil beyond the calendar.
    private static func moment(_ seconds: Double) -> String? {
        guard abs(seconds) < 1e11 else { return nil }
        let text = DateText.text(microseconds: Timestamp(seconds: seconds).microseconds)
        return text.dropLast().split(separator: "T").joined(separator: " ") + " UTC"
    }

    private static func describe(_ value: CBORValue) -> (text: String, kind: Kind) {
        switch value {
        case .unsigned(let number): return (String(number), .number)
        // CBOR's lowest integer, -2^64.
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
        case .array(let items) where items.isEmpty: return ("[] (empty)", .array)
        case .array(let items): return (Figures.count(items.count, "item", "items"), .array)
        case .map(let map) where map.entries.isEmpty: return ("{} (empty)", .map)
        case .map(let map): return (Figures.count(map.entries.count, "member", "members"), .map)
        case .tagged: return ("", .other)
        }
    }

    private static func content(_ value: CBORValue) -> Content? {
        switch value {
        case .text(let text): .text(text)
        case .bytes(let bytes): .bytes(Array(bytes))
        default: nil
        }
    }

    private static func describe(_ number: Double) -> String {
        guard number.isFinite, number == number.rounded(), abs(number) < 1e15 else { return "\(number)" }
        return number.sign == .minus && number == 0 ? "-0.0" : "\(Int64(number)).0"
    }

    /// The path of a node, such as `$.tags[2].name` or `$["a\"b"]`.
    package func path(of index: Int) -> String {
        var parts: [String] = []
        var current: Int? = index
        while let node = current, let parent = nodes[node].parent {
            let name = nodes[node].name
            if nodes[parent].kind == .array {
                parts.append("[\(name)]")
            } else {
                let isPlain = !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
                parts.append(
                    isPlain ? ".\(name)" : "[\(TerminalSafe.column(json: JSONTree.text(name).text))]")
            }
            current = parent
        }
        return "$" + parts.reversed().joined()
    }

    /// The nodes that aren't inside folded containers.
    package func visible(folded: Set<Int>) -> [Int] {
        var visible: [Int] = []
        var index = 0
        while index < nodes.count {
            visible.append(index)
            index = folded.contains(index) ? nodes[index].end : index + 1
        }
        return visible
    }

    /// The initially folded nodes: none in a small value, else all below the first level.
    package var initiallyFolded: Set<Int> {
        guard nodes.count > 300 else { return [] }
        return Set(nodes.indices.filter { nodes[$0].depth >= 1 && nodes[$0].isContainer })
    }
}
