import StoreInspection
import TerminalKit

/// The value of an entry.
enum ValueScreen: ScreenParts {
    static func path(_ model: Model) -> [String] {
        [TitleView.storeName(model), model.value?.archive.name ?? "", model.value?.key ?? ""]
    }

    static func archive(_ model: Model) -> ArchiveAddress? { model.value?.archive }

    static func key(_ model: Model) -> String? { model.value?.key }

    static func targets(_ model: Model) -> ChosenEntries? {
        guard let value = model.value, let entry = value.load?.entry else { return nil }
        return ChosenEntries(archive: value.archive, targets: [entry.target])
    }

    static func targetsWent(_ model: inout Model) -> [Effect] { leave(&model) }

    static func command(_ model: Model) -> CommandLine.Words {
        guard let value = model.value else { return .init("ls") }
        return .init("get", [value.archive.name, value.key], options: value.mode == .hex ? ["--hex"] : [])
    }

    // MARK: How it looks

    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        .init(rest, infoRows: isTall ? (model.size.rows >= 14 ? 2 : 1) : 0)
    }

    static func pageRows(_ list: Rect) -> Int { list.rows }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        ValueView.draw(model, layout, into: &frame)
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
        // On an empty screen it stands in the middle, in full.
        guard let load = model.value?.load else { return nil }
        return model.archives.problem ?? model.value?.problem ?? load.content.problem
    }

    static func place(_ model: Model) -> StatusView.Content? {
        guard let value = model.value, value.load != nil else { return nil }
        let look = model.look
        let count = value.rowCount(columns: model.layout.list.columns)
        var spans: [Span] = []
        if value.isStale {
            let key = Browser.keyName(model, .refresh)
            spans.append(Span("The store holds another value by now; \(key) reads it.  ", look[.warning]))
        }
        if value.mode == .tree, let tree = value.tree, let node = value.node {
            spans.append(Span(tree.path(of: node), look[.accent]))
            if tree.isCut { spans.append(Span("  cut after \(Figures.count(ValueTree.maximumNodes)) parts")) }
        } else if value.mode == .text, let size = value.load?.entry.valueBytes, size > ValueContent.textLimit
        {
            spans.append(
                Span("The first \(Figures.bytes(UInt64(ValueContent.textLimit))) as text.", look[.dim]))
        }
        if value.mode == .hex, let size = value.load?.entry.valueBytes {
            let columns = max(1, model.layout.list.columns - 1)
            let offset = value.top * HexDump(count: size) { _ in [] }.bytesPerRow(columns: columns)
            return .line(spans, right: "byte \(Figures.count(offset)) of \(Figures.count(size))")
        }
        return .line(
            spans, right: "\(Figures.count(min(count, value.position + 1))) of \(Figures.count(count))")
    }

    static func isOfUse(_ id: ActionID, _ model: Model) -> Bool {
        guard let value = model.value else { return true }
        switch id {
        case .fold: return value.mode == .tree
        case .find: return value.mode != .hex
        case .mode: return value.modes.count > 1
        default: return true
        }
    }

    // MARK: What it does

    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] {
        guard let value = model.value, !value.isPending else { return [] }
        guard isForced else { return [check(value)] }
        model.value?.isPending = true
        return [load(value)] + loadBiography(&model)
    }

    static func open(_ model: inout Model) -> [Effect] { [] }

    static func back(_ model: inout Model) -> [Effect] {
        if model.value?.mode == .tree, foldOrLeave(&model) { return [] }
        return leave(&model)
    }

    static func clear(_ model: inout Model) -> [Effect] {
        guard model.value?.search.isEmpty == false else { return leave(&model) }
        model.value?.search = ""
        return []
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        let page = model.layout.page
        let columns = model.size.columns
        model.value?.move(to: row, page: page, columns: columns)
        return []
    }

    static var doubleClick: ActionID { .fold }
}
