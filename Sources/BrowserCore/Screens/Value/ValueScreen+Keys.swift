import StoreInspection
import TerminalKit

extension ValueState {
    /// The tree's cursor, or the first visible row of bytes.
    var position: Int { mode == .tree ? cursor : mode == .hex ? top : 0 }

    var rowCount: Int { mode == .tree ? visible.count : (size + bytesPerRow - 1) / bytesPerRow }

    /// Changes the view. Keeps the offset between views of the same bytes.
    mutating func switchView(to next: Mode) {
        let old = (bytes: heldBytes, place: place)
        let wasTree = mode == .tree
        mode = next
        let stays = !wasTree && (heldBytes == nil) == (old.bytes == nil)
        let place = stays ? old.place : 0
        top = mode == .hex ? place / bytesPerRow : 0
        if mode == .text { text.goal = .init(offset: place) }
    }
}

extension ValueScreen {
    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        guard let value = model.value else { return [] }
        switch id {
        case .mode:
            if value.modes.count == 1 { model.say("This value can only be shown as bytes.", seconds: 3) }
            return switchView(&model) { $0.switchView(to: value.modes.next(after: value.mode)) }
        case .fold: return foldOrOpen(&model)
        case .unfoldAll: foldAll(&model, [])
        case .foldAll:
            guard let nodes = value.tree?.nodes else { break }
            foldAll(&model, Set(nodes.indices.filter { $0 > 0 && nodes[$0].isContainer }))
        case .find: return leaveCutTree(&model) + askFindText(&model)
        case .findNext: return findNext(&model, forward: true)
        case .findPrevious: return findNext(&model, forward: false)
        case .history:
            if value.problem == removedText, value.history?.endsWithRemoval == false {
                return Browser.showHistory(of: value.key, in: value.archive)
            }
            showHistory(&model)
        default: break
        }
        return []
    }

    /// Changes the view and repeats the search there.
    static func switchView(_ model: inout Model, _ change: (inout ValueState) -> Void) -> [Effect] {
        guard var value = model.value else { return [] }
        change(&value)
        value.find.start = value.place
        model.value = value
        return value.find.text.isEmpty ? [] : find(&model)
    }

    /// Folds or unfolds a container; opens a text or bytes in full.
    private static func foldOrOpen(_ model: inout Model) -> [Effect] {
        guard let value = model.value, value.mode == .tree, let tree = value.tree, let node = value.node
        else { return [] }
        if tree.nodes[node].isContainer {
            model.value?.folded.formSymmetricDifference([node])
            model.value?.unfold()
            return []
        }
        guard let part = OpenedPart(tree, node) else {
            return model.reply("The row shows the whole value.", seconds: 3)
        }
        return switchView(&model) { value in
            value.part = part
            value.mode = part.isText ? .text : .hex
            (value.top, value.text.top) = (0, 0)
            value.text.goal = nil
        }
    }

    static func closePart(_ model: inout Model) -> [Effect] {
        switchView(&model) { value in
            value.part = nil
            value.mode = .tree
        }
    }

    private static func foldAll(_ model: inout Model, _ folded: Set<Int>) {
        guard var value = model.value, let tree = value.tree, var node = value.node else { return }
        value.folded = folded
        value.unfold()
        while let parent = tree.nodes[node].parent, !value.visible.contains(node) { node = parent }
        value.cursor = value.visible.firstIndex(of: node) ?? 0
        model.value = value
    }

    /// Folds the selected node, or selects its parent.
    /// - Returns: false at the root.
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
        Browser.readingValue(&model) { showRead(value, &$0) }
    }

    private static func showRead(_ value: ValueState, _ model: inout Model) -> [Effect] {
        // Screens opened from the previous value return to its origin.
        if let former = model.value?.origin {
            if model.query?.origin == .value { model.query?.origin = former }
            if model.monitor?.origin == .value { model.monitor?.origin = former }
        }
        model.value = value
        model.value?.opened = model.now
        model.screen = .value
        return [load(value, model)] + loadHistory(&model)
    }

    static func leave(_ model: inout Model) -> [Effect] {
        let stopping = stopFinding(&model)
        let origin = model.value?.origin ?? .entries
        model.value = nil
        model.goBack(to: origin)
        return stopping
    }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        guard var value = model.value else { return [] }
        defer { model.value = value }
        value.bytesPerRow = HexDump(count: value.size) { _ in [] }
            .bytesPerRow(columns: max(1, layout.list.columns - 1))
        value.text.isASCII = model.look.isASCII
        let page = layout.page
        guard value.load != nil else { return [] }
        var missing: Range<Int>?
        switch value.mode {
        case .tree:
            value.cursor = max(0, min(value.cursor, value.rowCount - 1))
            value.top = Table.firstRow(showing: value.cursor, of: value.rowCount, in: page, from: value.top)
        case .text: missing = value.settleText(page: page, columns: max(1, layout.list.columns - 2))
        case .hex:
            value.top = max(0, min(value.top, value.rowCount - page))
            let shown = value.bytesInView(max(1, page)).clamped(to: 0..<value.size)
            guard value.heldBytes == nil, !shown.isEmpty else { break }
            let chunk = StoredBytes.chunk
            missing = value.stored.missing(of: shown.lowerBound / chunk..<(shown.upperBound - 1) / chunk + 1)
        }
        guard let missing else { return [] }
        value.stored.pending = missing
        return [loadBytes(missing, of: value)]
    }
}
