import ServerInspection
import StoreInspection
import TerminalKit

enum ValueScreen: ScreenParts {
    static func path(_ model: Model) -> [String] {
        [TitleView.storeName(model), model.value?.archive.name ?? "", model.value?.key ?? ""]
    }

    static func archive(_ model: Model) -> ArchiveAddress? { model.value?.archive }

    static func key(_ model: Model) -> String? { model.value?.key }

    static func targets(_ model: Model) -> ChosenEntries? {
        guard let value = model.value, let load = value.load else { return nil }
        var target = load.entry.target
        target.size = load.size
        return ChosenEntries(archive: value.archive, targets: [target])
    }

    static func targetsRemoved(_ model: inout Model) -> [Effect] { leave(&model) }

    static func command(_ model: Model) -> CommandLine.Words {
        guard let value = model.value else { return .init("ls") }
        return .showing(value.key, in: value.archive.name, options: value.mode == .hex ? ["--hex"] : [])
    }

    // MARK: View

    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        .init(rest, infoRows: isTall ? (model.size.rows >= 14 ? 2 : 1) : 0)
    }

    static func pageRows(_ list: Rect) -> Int { list.rows }

    static func age(_ model: Model) -> ScreenAge? {
        model.value?.asOf.map { ScreenAge(.read, since: $0, at: model.shownNow) }
    }

    static func cursor(_ model: Model) -> Int { model.value?.position ?? 0 }
    static func firstRow(_ model: Model) -> Int { model.value?.top ?? 0 }

    static func table(_ model: Model) -> Table? { nil }

    static func row(at point: Point, _ model: Model, _ layout: ScreenLayout) -> Int? {
        guard layout.list.contains(point), let value = model.value, value.mode == .tree else { return nil }
        let row = value.top + point.row - layout.list.row
        return row < value.visible.count ? row : nil
    }

    static func problem(_ model: Model) -> String? {
        // Without a value, the list area shows the problem in full.
        guard let value = model.value, let load = value.load else { return nil }
        let own = model.archives.problem ?? value.problem
        return own ?? (model.size.rows < 9 && value.find.text.isEmpty ? load.content.problem : nil)
    }

    static func place(_ model: Model) -> StatusView.Content? {
        guard let value = model.value, value.load != nil else { return nil }
        var right = position(value, model.layout.page)
        if !value.find.note.isEmpty { right = "\"\(value.find.text)\" \(value.find.note)  \(right)" }
        right = model.look.cut(right, to: max(0, model.size.columns * 2 / 3), .start)
        return .line(notes(value, model), right: right)
    }

    private static func position(_ value: ValueState, _ page: Int) -> String {
        guard value.mode == .tree else {
            let match = value.find.match.flatMap {
                $0.overlaps(value.bytesInView(page)) ? $0.lowerBound : nil
            }
            let text = value.showsJSONText ? "JSON text, " : ""
            return "\(text)byte \(Figures.count(match ?? value.place)) of \(Figures.count(value.size))"
        }
        let count = value.rowCount
        return "\(Figures.count(min(count, value.position + 1))) of \(Figures.count(count))"
    }

    private static func notes(_ value: ValueState, _ model: Model) -> [Span] {
        let look = model.look
        guard let content = value.load?.content else { return [] }
        var spans: [Span] = []
        if value.isStale { spans.append(Span(EventText.replaced(value, model) + "  ", look[.warning])) }
        if let problem = content.problem { spans.append(Span(problem + "  ", look[.error])) }
        if let part = value.part { return spans + [Span(part.path, look[.accent])] }
        if content.isTooLong {
            let limit = Figures.bytes(UInt64(ValueContent.decodingLimit))
            let (find, mode) = (Browser.keyName(model, .find), Browser.keyName(model, .mode))
            let other =
                value.modes.count > 1 ? ", \(mode) shows \(value.mode == .hex ? "text" : "bytes")" : ""
            spans.append(Span("No tree over \(limit); \(find) searches all\(other).", look[.dim]))
        }
        if value.mode == .tree, let tree = value.tree, let node = value.node {
            spans.append(Span(tree.path(of: node), look[.accent]))
            if tree.isCut {
                let mode = Browser.keyName(model, .mode)
                let count = Figures.count(ValueTree.maximumNodes)
                spans.append(Span("  first \(count) parts; \(mode) shows all as text"))
            }
        } else if value.mode == .text, content.isSpellingCut {
            spans.append(Span("First \(Figures.bytes(UInt64(value.size))) of its JSON.", look[.dim]))
        }
        return spans
    }

    static func copyable(_ model: Model) -> [CopyItem] {
        var items = Browser.chosenEntry(model).map(CopyItem.items) ?? []
        guard let value = model.value, value.mode == .tree, let tree = value.tree, let node = value.node
        else { return items }
        items.append(CopyItem("a", "the path of the part", value.part?.path ?? tree.path(of: node)))
        return items
    }

    static func hasEffect(_ id: ActionID, _ model: Model) -> Bool {
        guard let value = model.value else { return true }
        let needsValue: [ActionID] = [.editValue, .pager, .find, .delete, .expire, .mode]
        if value.load == nil, needsValue.contains(id) { return false }
        switch id {
        case .addElement: return ValueElement.nouns[value.load?.typeName ?? ""] != nil
        case .editValue where value.load?.typeName != nil: return value.element != nil
        case .editValue: return value.load?.content.isEditable == true
        case .fold, .foldAll, .unfoldAll: return value.mode == .tree
        case .mode: return value.modes.count > 1
        default: return true
        }
    }

    // MARK: Actions

    /// Without a search, the key of the next match adds an element.
    static func action(for key: Key, _ id: ActionID, _ model: Model) -> ActionID {
        let adds = id == .findNext && model.value?.find.text.isEmpty == true && hasEffect(.addElement, model)
        return adds && model.keyMap.action(.newEntry)?.keys.contains(key) == true ? .addElement : id
    }

    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] {
        guard let value = model.value, !value.isPending else { return [] }
        // A value that couldn't be read is tried again.
        guard isForced || value.load == nil && value.problem != nil else { return [check(value)] }
        model.value?.isPending = true
        return [load(value, model)] + loadHistory(&model)
    }

    static func open(_ model: inout Model) -> [Effect] { [] }

    static func back(_ model: inout Model) -> [Effect] {
        if model.value?.part != nil { return closePart(&model) }
        if model.value?.mode == .tree, foldOrLeave(&model) { return [] }
        return leave(&model)
    }

    static func clear(_ model: inout Model) -> [Effect] {
        guard model.value?.find.text.isEmpty == false else {
            return model.value?.part == nil ? leave(&model) : closePart(&model)
        }
        model.value?.find.text = ""
        return stopFinding(&model)
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        guard var value = model.value else { return [] }
        defer { model.value = value }
        let page = model.layout.page
        switch value.mode {
        case .tree: value.cursor = max(0, min(row, value.rowCount - 1))
        case .text: value.text.goal = .init(offset: row <= 0 ? 0 : .max, rowsAbove: row <= 0 ? 0 : page - 1)
        case .hex: value.top = max(0, min(row, value.rowCount - page))
        }
        return []
    }

    static func move(_ model: inout Model, by rows: Int) -> [Effect] {
        guard model.value?.mode == .text else { return move(&model, to: max(0, cursor(model) + rows)) }
        model.value?.moveText(by: rows)
        return []
    }

    static var doubleClick: ActionID { .fold }
}
