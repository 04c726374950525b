import TerminalKit

extension Browser {
    private static let wheelRows = 3

    static func mouse(_ model: inout Model, _ event: MouseEvent) -> [Effect] {
        if let overlay = model.overlay { return mouse(&model, event, in: overlay) }
        let layout = model.layout
        switch event.kind {
        case .wheelUp: return move(&model, by: -wheelRows)
        case .wheelDown: return move(&model, by: wheelRows)
        case .press, .click:
            guard event.button == .left, event.kind == .click else { return [] }
            if layout.footer.contains(event.at), StatusView(model).content == nil || model.size.rows >= 9 {
                let action = Footer(FooterView.hints(model)).action(at: event.at, in: layout.footer)
                return action.map { perform(&model, $0) } ?? []
            }
            return click(&model, event.at, layout)
        case .doubleClick:
            let effects = click(&model, event.at, layout)
            guard layout.list.contains(event.at), rowAt(model, event.at, layout) != nil else {
                return effects
            }
            return effects + perform(&model, model.screen == .value ? .fold : .open)
        case .drag:
            let bar = EntriesView.table(model).layout(in: layout.list).scrollBar
            return model.screen == .entries && bar.contains(event.at) ? click(&model, event.at, layout) : []
        case .release: return []
        }
    }

    private static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] {
        if model.screen == .entries {
            let table = EntriesView.table(model)
            let places = table.layout(in: layout.list)
            if places.scrollBar.contains(point) {
                let bar = ScrollBar(total: table.rowCount, first: table.firstRow, visible: places.body.rows)
                let top = bar.first(forThumbAt: point.row - places.scrollBar.row, in: places.scrollBar.rows)
                model.entries?.top = top
                return move(&model, to: top)
            }
            if let header = places.headerColumn(at: point),
                let column = EntriesView.columns[header].column
            {
                return sort(&model, by: column)
            }
        }
        if model.screen == .query { model.query?.isTyping = layout.info.line(0).contains(point) }
        guard let row = rowAt(model, point, layout) else { return [] }
        if model.screen == .value, model.value?.mode != .tree { return [] }
        return move(&model, to: row)
    }

    private static func rowAt(_ model: Model, _ point: Point, _ layout: ScreenLayout) -> Int? {
        let table: Table
        switch model.screen {
        case .stores: table = StoresView.table(model)
        case .archives: table = ArchivesView.table(model)
        case .entries: table = EntriesView.table(model)
        case .value:
            guard layout.list.contains(point), let value = model.value, value.mode == .tree else {
                return nil
            }
            let row = value.top + point.row - layout.list.row
            return row < value.visible.count ? row : nil
        case .query: table = QueryView.table(model)
        case .messages: table = MessagesView.table(model)
        case .monitor: table = MonitorView.table(model)
        }
        return table.layout(in: layout.list).row(at: point)
    }

    private static func mouse(_ model: inout Model, _ event: MouseEvent, in overlay: Overlay) -> [Effect] {
        switch (overlay, event.kind) {
        case (_, .wheelUp): return press(&model, Key(.up), in: overlay)
        case (_, .wheelDown): return press(&model, Key(.down), in: overlay)
        case (.plan(var plan), .click):
            let places = OverlayPlaces.dialog(plan, model).places(in: OverlayPlaces.dialogs(model))
            guard let button = places.buttons.firstIndex(where: { $0.contains(event.at) }) else { return [] }
            plan.button = button
            return press(&model, Key(.enter), in: .plan(plan))
        case (.expire(var form), .click):
            let places = OverlayPlaces.dialog(form, model).places(in: OverlayPlaces.dialogs(model))
            if let button = places.buttons.firstIndex(where: { $0.contains(event.at) }) {
                form.button = button
                return press(&model, Key(.enter), in: .expire(form))
            }
            let first = OverlayPlaces.firstChoice(form, in: places.content)
            if places.content.contains(event.at), !form.targets.isEmpty,
                let choice = ExpireForm.Choice(rawValue: first + event.at.row - places.content.row)
            {
                form.choice = choice
                form.problem = nil
                model.overlay = .expire(form)
            }
            return []
        case (.undoList(var list), .click):
            let places = OverlayPlaces.undoList(list, model)
            guard places.list.contains(event.at) else { return [] }
            let row = list.first + (event.at.row - places.list.row) / places.rowsPerItem
            guard list.actions.indices.contains(row) else { return [] }
            list.selected = row
            return press(&model, Key(.enter), in: .undoList(list))
        case (.message, .click): return press(&model, Key(.enter), in: overlay)
        case (.actions(var list), .click), (.actions(var list), .doubleClick):
            let rows = OverlayPlaces.actions(list, model).list
            guard rows.contains(event.at) else { return [] }
            list.selected = list.first + event.at.row - rows.row
            return press(&model, Key(.enter), in: .actions(list))
        default: return []
        }
    }
}
