import StorageEngine
import StoreInspection
import TerminalKit

/// The screen of one value.
struct ValueState: Sendable {
    enum Mode: String, Sendable, Hashable, CaseIterable {
        case tree, text, hex
    }

    /// Bytes that the hexadecimal view reads at once.
    static let chunk = 64 << 10
    private static let maximumChunks = 64

    let archive: ArchiveAddress
    let key: String
    /// The screen to go back to.
    let origin: Screen
    var load: ValueLoad?
    var mode = Mode.hex
    var folded: Set<Int> = []
    /// The tree's nodes that aren't inside a folded one.
    private(set) var visible: [Int] = []
    /// The text, wrapped to `wrapColumns`.
    private(set) var lines: [String] = []
    private var wrapColumns = 0
    var cursor = 0
    var top = 0
    var search = ""
    /// Chunks of the value by their number; only those in view are read.
    private(set) var chunks: [Int: [UInt8]] = [:]
    var pendingChunk: Int?
    var isPending = true
    /// Whether the store holds another value by now.
    var isStale = false
    var problem: String?
    /// What the events tell of the key; nil until they were read.
    var biography: KeyHistory?
    var isBiographyPending = false

    init(archive: ArchiveAddress, key: String, origin: Screen = .entries) {
        self.origin = origin
        self.archive = archive
        self.key = key
    }

    var tree: ValueTree? { load?.content.tree }

    /// The views that this value has.
    var modes: [Mode] {
        guard let content = load?.content else { return [.hex] }
        return Mode.allCases.filter { mode in
            switch mode {
            case .tree: content.tree != nil
            case .text: content.text != nil
            case .hex: true
            }
        }
    }

    mutating func show(_ load: ValueLoad) {
        let isFirst = self.load == nil
        self.load = load
        isStale = false
        problem = nil
        chunks = [:]
        for start in stride(from: 0, to: load.head.count, by: ValueState.chunk) {
            let end = min(start + ValueState.chunk, load.head.count)
            // A chunk that is cut isn't kept: it would look like the value's end.
            if end - start == ValueState.chunk || end == load.entry.valueBytes {
                chunks[start / ValueState.chunk] = Array(load.head[start..<end])
            }
        }
        if isFirst || !modes.contains(mode) { mode = modes[0] }
        folded = load.content.tree?.initiallyFolded ?? []
        wrapColumns = 0
        unfold()
    }

    /// Recomputes what is visible after `folded` changed.
    mutating func unfold() {
        visible = tree?.visible(folded: folded) ?? []
    }

    mutating func wrap(columns: Int) {
        guard columns != wrapColumns, mode == .text, let text = load?.content.text else { return }
        wrapColumns = columns
        // A line break at the end of a text ends its last line and begins none.
        let body = text.last?.isNewline == true ? String(text.dropLast()) : text
        lines = TextWrap.lines(body.replacingTabs(), columns: columns)
    }

    mutating func add(_ bytes: [UInt8], chunk: Int) {
        if chunks.count >= ValueState.maximumChunks { chunks = [:] }
        chunks[chunk] = bytes
    }
}

extension String {
    /// The text with each tab as spaces up to the next multiple of four columns, as far as its line is ASCII.
    func replacingTabs() -> String {
        guard utf8.contains(9) else { return self }
        var result = ""
        var column = 0
        for character in self {
            if character == "\t" {
                let spaces = 4 - column % 4
                result += String(repeating: " ", count: spaces)
                column += spaces
            } else {
                result.append(character)
                column = character.isNewline ? 0 : column + 1
            }
        }
        return result
    }
}
