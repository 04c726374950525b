import StorageEngine
import StoreInspection
import TerminalKit

struct ValueState: Sendable {
    enum Mode: String, Sendable, Hashable, CaseIterable {
        case tree, text, hex
    }

    let archive: ArchiveAddress
    let key: String
    let origin: Screen
    var load: ValueLoad?
    var mode = Mode.hex
    var folded: Set<Int> = []
    /// The tree's nodes that aren't inside a folded one.
    private(set) var visible: [Int] = []
    var cursor = 0
    /// The first row in view, of the tree and of bytes.
    var top = 0
    /// Bytes in a row of the bytes' view; follows from the screen's width.
    var bytesPerRow = 1
    var text = TextPlace()
    /// A leaf of the tree that was opened.
    var part: OpenedPart?
    var find = ValueFind()
    var stored = StoredBytes()
    var isPending = true
    var opened: Timestamp?
    /// Whether the store holds another value by now.
    var isStale = false
    var problem: String?
    /// When the store was last seen to hold what is shown.
    var seen: Timestamp?
    /// What the events tell of the key; nil until they were read.
    var history: KeyHistory?
    var isHistoryPending = false

    init(archive: ArchiveAddress, key: String, origin: Screen = .entries) {
        self.origin = origin
        self.archive = archive
        self.key = key
    }

    /// The index of the event with which the store got another value than the one that is shown.
    private var replacing: Int? {
        guard isStale, let events = history?.events, let seen else { return nil }
        let writes = events.indices.filter { [.record, .update, .restore].contains(events[$0].kind) }
        return writes.first { events[$0].time > seen } ?? writes.last
    }

    var replacement: ArchiveEvent? { replacing.flatMap { history?.events[$0] } }

    /// The events of the shown entry alone: since it was recorded, until it was replaced.
    var ownEvents: [ArchiveEvent] {
        let events = history?.events.prefix(replacing ?? .max) ?? []
        return Array(events[(events.lastIndex { $0.kind == .record } ?? 0)...])
    }

    var tree: ValueTree? { load?.content.tree }

    /// Since when what is shown may be another thing than what the store holds; nil: it is the store's.
    var asOf: Timestamp? { load != nil && (isStale || problem != nil) ? seen : nil }

    var modes: [Mode] {
        if let part { return part.isText ? [.text, .hex] : [.hex] }
        guard let content = load?.content else { return [.hex] }
        return Mode.allCases.filter { mode in
            switch mode {
            case .tree: content.tree != nil
            case .text: content.isText || content.spelling != nil
            case .hex: true
            }
        }
    }

    /// The bytes that the text or the bytes' view shows, if they are held; nil: they are read from the store in parts.
    var heldBytes: [UInt8]? { part?.bytes ?? (mode == .text ? load?.content.spelling : nil) }

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

    mutating func unfold() {
        visible = tree?.visible(folded: folded) ?? []
    }

    var node: Int? { visible.indices.contains(cursor) ? visible[cursor] : nil }

    /// Puts the cursor on a node and unfolds what hides it.
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

/// A leaf of a tree that is looked at in full.
struct OpenedPart: Sendable {
    /// Where it stands in the value.
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

/// Where a wrapped text is looked at, by bytes: the rows of a long one can't be counted.
struct TextPlace: Sendable {
    /// What is to come into view once its bytes are there.
    struct Goal: Sendable {
        var offset: Int
        /// Rows to be seen above it.
        var rowsAbove = 0
    }

    /// The first byte of the first row in view.
    var top = 0
    var goal: Goal?
    /// What the rows are laid out for: the width, and whether they are in ASCII alone.
    var columns = 0
    var isASCII = false
}

/// The parts of a value that were read of the store.
struct StoredBytes: Sendable {
    /// Bytes that are read at once.
    static let chunk = TextWindow.block
    private static let most = 128

    /// By number; only those in view are read.
    private(set) var chunks: [Int: [UInt8]] = [:]
    var pending: Range<Int>?

    init() {}

    init(_ head: [UInt8], of size: Int) {
        add(head, from: 0, of: size)
    }

    /// Takes bytes that begin with a chunk. A chunk that is cut isn't kept: it would look like the value's end.
    mutating func add(_ bytes: [UInt8], from first: Int, of size: Int) {
        let chunk = StoredBytes.chunk
        if chunks.count + bytes.count / chunk >= StoredBytes.most { chunks = [:] }
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            let end = min(start + chunk, bytes.count)
            guard end - start == chunk || first * chunk + end == size else { continue }
            chunks[first + start / chunk] = Array(bytes[start..<end])
        }
    }

    /// Takes what was read of some chunks; where that is nothing, they have nothing and aren't asked for again.
    mutating func take(_ bytes: [UInt8], _ numbers: Range<Int>, of size: Int) {
        add(bytes, from: numbers.lowerBound, of: size)
        for number in numbers where chunks[number] == nil { chunks[number] = [] }
    }

    /// The first of the chunks that are missing, and those that follow, as far as one reading takes them.
    func missing(of wanted: Range<Int>) -> Range<Int>? {
        guard pending == nil, let first = wanted.first(where: { chunks[$0] == nil }) else { return nil }
        let last = wanted.drop { $0 < first }.prefix(4).prefix { chunks[$0] == nil }.last ?? first
        return first..<last + 1
    }

    /// The bytes of a range as far as they were read, without a gap.
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
