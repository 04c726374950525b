import ServerInspection
import StorageEngine
import StoreInspection
import TerminalKit

struct ValueState: Sendable {
    enum Mode: String, Sendable, Hashable, CaseIterable {
        case tree, text, hex
    }

    let archive: ArchiveAddress
    let key: String
    var origin = Screen.entries
    var load: ValueLoad?
    var mode = Mode.hex
    var folded: Set<Int> = []
    private(set) var visible: [Int] = []
    var cursor = 0
    var top = 0
    var bytesPerRow = 1
    var text = TextPlace()
    var part: OpenedPart?
    var find = ValueFind()
    var stored = StoredBytes()
    var isPending = true
    var opened: Timestamp?
    /// Whether the store now has a different value.
    var isStale = false
    var problem: String?
    /// When the store last had the shown value.
    var seen: Timestamp?
    var history: KeyHistory?
    var isHistoryPending = false

    private var created: Timestamp { load?.entry.created ?? Timestamp(microseconds: .min) }

    /// The events since the shown value was created. Older ones belong to an earlier entry of the key.
    private var events: ArraySlice<ArchiveEvent> { (history?.events ?? []).drop { $0.time < created } }

    /// The index of the event that replaced the shown value.
    private var replacing: Int? {
        guard isStale, let seen else { return nil }
        let events = events
        let writes = events.indices.filter { [.record, .update, .restore].contains(events[$0].kind) }
        return writes.first { events[$0].time > seen } ?? writes.last { $0 > events.startIndex }
    }

    var replacement: ArchiveEvent? { replacing.map { events[$0] } }

    /// The events of the shown value: from its record until its replacement.
    var ownEvents: [ArchiveEvent] {
        let own = replacing.map { events[..<$0] } ?? events
        return Array(own[(own.lastIndex { $0.kind == .record } ?? own.startIndex)...])
    }

    /// Whether the events reach back to before the value was created, but its record is missing.
    var missesRecord: Bool {
        ownEvents.first?.kind != .record && history?.reachesBackTo.map { $0 <= created } == true
    }

    var missesEvents: Bool { history?.gaps.contains { $0.upperBound >= created } == true }

    var tree: ValueTree? { load?.content.tree }

    /// The time of a value that may be outdated; nil for a current one.
    var asOf: Timestamp? {
        guard let load else { return nil }
        return load.read ?? (isStale || problem != nil ? seen : nil)
    }

    var modes: [Mode] {
        if let part { return part.isText ? [.text, .hex] : [.hex] }
        guard let content = load?.content else { return [.hex] }
        let modes = Mode.allCases.filter { mode in
            switch mode {
            case .tree: content.tree != nil
            case .text: content.isText || content.spelling != nil
            // The bytes of a server's hash exist only in the document that shows it.
            case .hex: load?.typeName == nil
            }
        }
        return modes.isEmpty ? [.hex] : modes
    }

    /// The time in the ID of a stream's entry; nil for other nodes.
    func time(of node: Int) -> Timestamp? {
        guard load?.typeName == "stream", let tree, tree.nodes[node].depth == 1 else { return nil }
        return ServerValue.time(ofStreamID: tree.nodes[node].name)
    }

    /// Whether an element of a server's value, or a part of one, is selected instead of the whole value.
    var isPartSelected: Bool {
        guard mode == .tree || part != nil, load?.typeName != nil, let tree, let node else { return false }
        return tree.nodes[node].depth > 0
    }

    /// The type of a server's value, and its selected element; nil: none is selected.
    var selectedPart: (type: String, node: ValueTree.Node)? {
        guard isPartSelected, let type = load?.typeName, let tree, let node, tree.nodes[node].depth == 1
        else { return nil }
        return (type, tree.nodes[node])
    }

    /// The selected element of a server's value; nil if no element is selected that can be edited alone.
    var element: ValueElement? {
        guard let tree, let (type, node) = selectedPart else { return nil }
        // Elements of a list have no elements. An incomplete list has a remark.
        let length = tree.isCut || load?.remark != nil ? nil : tree.nodes.count - 1
        return ValueElement(node.name, ofType: type, shown: shownBytes, of: length)
    }

    /// The text or bytes of the selected node.
    var shownBytes: [UInt8]? {
        switch node.flatMap({ tree?.nodes[$0].content }) {
        case .text(let text)?: Array(text.utf8)
        case .bytes(let bytes)?: bytes
        case nil: nil
        }
    }

    /// The bytes of the view if they are in memory; nil if they are read in chunks.
    var heldBytes: [UInt8]? { part?.bytes ?? (mode == .text ? load?.content.spelling : nil) }

    /// Whether the text is the JSON of a value that is stored in another format.
    var showsJSONText: Bool { mode == .text && part == nil && load?.content.spelling != nil }

    var size: Int { heldBytes?.count ?? load?.entry.valueBytes ?? 0 }

    mutating func show(_ load: ValueLoad, seen: Timestamp) {
        let isFirst = self.load == nil
        self.load = load
        self.seen = seen
        isStale = false
        problem = nil
        part = nil
        stored = StoredBytes(load.head, of: load.entry.valueBytes)
        if isFirst || !modes.contains(mode) { mode = modes[0] }
        folded = load.content.tree?.initiallyFolded ?? []
        text.goal = text.goal ?? .init(offset: text.top)
        unfold()
    }

    mutating func unfold() { visible = tree?.visible(folded: folded) ?? [] }

    var node: Int? { visible.indices.contains(cursor) ? visible[cursor] : nil }

    /// Selects a node and unfolds its parents.
    mutating func reveal(_ node: Int) {
        guard let tree else { return }
        var parent = tree.nodes[node].parent
        while let container = parent {
            folded.remove(container)
            parent = tree.nodes[container].parent
        }
        unfold()
        cursor = visible.firstIndex(of: node) ?? 0
    }
}

struct OpenedPart: Sendable {
    let path: String
    let bytes: [UInt8]
    let isText: Bool

    init?(_ tree: ValueTree, _ node: Int) {
        path = tree.path(of: node)
        switch tree.nodes[node].content {
        case .text(let text): (bytes, isText) = (Array(text.utf8), true)
        case .bytes(let bytes): (self.bytes, isText) = (bytes, false)
        case nil: return nil
        }
    }
}

/// The place in a wrapped text, in bytes: rows of a long text can't be counted.
struct TextPlace: Sendable {
    /// An offset to show once its bytes are loaded.
    struct Goal: Sendable {
        var offset: Int
        var rowsAbove = 0
    }

    var top = 0
    var goal: Goal?
    /// The width and character set of the layout.
    var columns = 0
    var isASCII = false
}

struct StoredBytes: Sendable {
    static let chunk = TextWindow.block
    private static let maximum = 128

    private(set) var chunks: [Int: [UInt8]] = [:]
    var pending: Range<Int>?

    init() {}

    init(_ head: [UInt8], of size: Int) { add(head, from: 0, of: size) }

    /// Adds bytes from a chunk's start. An incomplete chunk isn't kept, since it would look like the value's end.
    mutating func add(_ bytes: [UInt8], from first: Int, of size: Int) {
        let chunk = StoredBytes.chunk
        if chunks.count + bytes.count / chunk >= StoredBytes.maximum { chunks = [:] }
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            let end = min(start + chunk, bytes.count)
            guard end - start == chunk || first * chunk + end == size else { continue }
            chunks[first + start / chunk] = Array(bytes[start..<end])
        }
    }

    /// Adds the chunks of a request; missing ones are empty and aren't requested again.
    mutating func take(_ bytes: [UInt8], _ numbers: Range<Int>, of size: Int) {
        add(bytes, from: numbers.lowerBound, of: size)
        for number in numbers where chunks[number] == nil { chunks[number] = [] }
    }

    /// The first missing chunk and up to three missing ones after it.
    func missing(of wanted: Range<Int>) -> Range<Int>? {
        guard pending == nil, let first = wanted.first(where: { chunks[$0] == nil }) else { return nil }
        let last = wanted.drop { $0 < first }.prefix(4).prefix { chunks[$0] == nil }.last ?? first
        return first..<last + 1
    }

    /// The loaded bytes of a range up to the first gap.
    func bytes(_ range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        var offset = range.lowerBound
        while offset < range.upperBound {
            let number = offset / StoredBytes.chunk
            let start = number * StoredBytes.chunk
            guard let chunk = chunks[number], offset - start < chunk.count else { break }
            let end = min(range.upperBound - start, chunk.count)
            bytes += chunk[(offset - start)..<end]
            offset = start + end
        }
        return bytes
    }
}
