import StoreInspection
import TerminalKit

extension ValueState {
    /// The row that moving counts from: the tree's cursor, or the first row in view.
    var position: Int { mode == .tree ? cursor : top }

    /// How many rows the view has.
    func rowCount(columns: Int) -> Int {
        switch mode {
        case .tree: visible.count
        case .text: lines.count
        case .hex:
            HexDump(count: load?.entry.valueBytes ?? 0) { _ in [] }.rowCount(columns: max(1, columns - 1))
        }
    }

    mutating func move(to row: Int, page: Int, columns: Int) {
        let count = rowCount(columns: columns)
        if mode == .tree {
            cursor = max(0, min(row, count - 1))
        } else {
            top = max(0, min(row, count - page))
        }
    }

    /// The node under the tree's cursor.
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

extension ValueTree {
    /// Whether a node's name or value holds a text, whatever its case.
    func matches(_ index: Int, _ pattern: KeyPattern) -> Bool {
        pattern.matches(nodes[index].name) || !nodes[index].isContainer && pattern.matches(nodes[index].value)
    }
}

extension ValueScreen {
    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        guard let value = model.value else { return [] }
        switch id {
        case .mode:
            let modes = value.modes
            let next = (modes.firstIndex(of: value.mode) ?? 0) + 1
            model.value?.mode = modes[next % modes.count]
            model.value?.top = 0
            if modes.count == 1 { model.say("Bytes have no other view.", seconds: 3) }
        case .fold:
            if let node = value.node, value.tree?.nodes[node].isContainer == true, value.mode == .tree {
                model.value?.folded.formSymmetricDifference([node])
                model.value?.unfold()
            }
        case .unfoldAll: foldAll(&model, [])
        case .foldAll:
            guard let nodes = value.tree?.nodes else { break }
            foldAll(&model, Set(nodes.indices.filter { $0 > 0 && nodes[$0].isContainer }))
        case .find:
            model.prompt = Prompt(
                label: "find ", field: TextField(placeholder: "text to find"), before: value.search,
                keys: [("enter", "Keep"), ("esc", "Leave")])
        case .findNext: find(&model, forward: true)
        case .findPrevious: find(&model, forward: false)
        case .biography: showBiography(&model)
        default: break
        }
        return []
    }

    private static func foldAll(_ model: inout Model, _ folded: Set<Int>) {
        guard var value = model.value, let tree = value.tree, var node = value.node else { return }
        value.folded = folded
        value.unfold()
        // The cursor stays at its node, or goes to the one that hides it.
        while let parent = tree.nodes[node].parent, !value.visible.contains(node) { node = parent }
        value.cursor = value.visible.firstIndex(of: node) ?? 0
        model.value = value
    }

    /// Folds the node under the cursor, or goes to the one that holds it.
    /// - Returns: false at the root, where there is nothing to fold or to go to.
    static func foldOrLeave(_ model: inout Model) -> Bool {
        guard let value = model.value, let tree = value.tree, let index = value.node else { return false }
        let node = tree.nodes[index]
        if node.isContainer, !value.folded.contains(index), index > 0 {
            model.value?.folded.insert(index)
            model.value?.unfold()
            return true
        }
        guard let parent = node.parent else { return false }
        model.value?.cursor = value.visible.firstIndex(of: parent) ?? 0
        return true
    }

    static func show(_ value: ValueState, _ model: inout Model) -> [Effect] {
        model.value = value
        model.screen = .value
        return [load(value)] + loadBiography(&model)
    }

    static func leave(_ model: inout Model) -> [Effect] {
        model.screen = model.value?.origin ?? .entries
        model.value = nil
        return []
    }

    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect] {
        model.value?.search = text
        find(&model, forward: true, includingCurrent: true)
        return []
    }

    static func promptEnded(_ model: inout Model, _ prompt: Prompt, isKept: Bool) -> [Effect] {
        if !isKept { model.value?.search = prompt.before }
        return []
    }

    /// Goes to the next place that holds the search text, and from the last one to the first.
    static func find(_ model: inout Model, forward: Bool, includingCurrent: Bool = false) {
        guard let value = model.value, let pattern = KeyPattern(value.search) else { return }
        let count: Int
        let start: Int
        let isMatch: (Int) -> Bool
        switch value.mode {
        case .tree:
            guard let tree = value.tree else { return }
            (count, start) = (tree.nodes.count, value.node ?? 0)
            isMatch = { tree.matches($0, pattern) }
        case .text:
            let lines = value.lines
            (count, start) = (lines.count, value.top)
            isMatch = { pattern.matches(lines[$0]) }
        case .hex:
            model.say("Text is found in the tree and text views.", seconds: 3)
            return
        }
        for step in (includingCurrent ? 0 : 1)...max(1, count) {
            let index = (start + (forward ? step : -step) + 2 * max(1, count)) % max(1, count)
            guard index < count, isMatch(index) else { continue }
            if value.mode == .tree {
                model.value?.reveal(index)
            } else {
                let page = model.layout.page
                let columns = model.size.columns
                model.value?.move(to: index, page: page, columns: columns)
            }
            return
        }
        model.say("\"\(value.search)\" isn't there.", role: .warning, seconds: 3)
    }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        guard var value = model.value else { return [] }
        defer { model.value = value }
        value.wrap(columns: max(1, layout.list.columns - 2))
        let page = layout.page
        let count = value.rowCount(columns: layout.list.columns)
        if value.mode == .tree {
            value.cursor = max(0, min(value.cursor, count - 1))
            value.top = Table.firstRow(showing: value.cursor, of: count, in: page, from: value.top)
            return []
        }
        value.top = max(0, min(value.top, count - page))
        guard value.mode == .hex, value.pendingChunk == nil, let size = value.load?.entry.valueBytes, size > 0
        else { return [] }
        let dump = HexDump(count: size) { _ in [] }
        let each = dump.bytesPerRow(columns: max(1, layout.list.columns - 1))
        let shown = value.top * each..<max(value.top * each + 1, min(size, (value.top + page) * each))
        let needed = shown.lowerBound / ValueState.chunk...(shown.upperBound - 1) / ValueState.chunk
        guard let missing = needed.first(where: { value.chunks[$0] == nil }) else { return [] }
        value.pendingChunk = missing
        let start = missing * ValueState.chunk
        return [loadBytes(start..<min(size, start + ValueState.chunk), of: value)]
    }
}
