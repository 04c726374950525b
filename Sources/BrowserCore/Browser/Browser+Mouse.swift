import TerminalKit

extension Browser {
    private static let wheelRows = 3

    static func mouse(_ model: inout Model, _ event: MouseEvent) -> [Effect] {
        if let overlay = model.overlay { return mouse(&model, event, in: overlay) }
        let layout = model.layout
        if event.kind != .release { model.notice = nil }
        switch event.kind {
        case .wheelUp, .wheelDown:
            let rows = event.kind == .wheelUp ? -wheelRows : wheelRows
            guard model.screen == .entries, layout.pane.contains(event.at) else {
                return move(&model, by: rows)
            }
            PreviewPane.scroll(&model, by: rows, in: layout.pane, isBeside: layout.isBeside)
            return []
        case .press, .click:
            guard event.button == .left, event.kind == .click else { return [] }
            if layout.footer.contains(event.at), StatusView(model).content == nil || model.size.rows >= 9 {
                let action = Footer(FooterView.hints(model)).action(at: event.at, in: layout.footer)
                return action.map { perform(&model, $0) } ?? []
            }
            return model.parts.click(&model, event.at, layout)
        case .doubleClick:
            let effects = model.parts.click(&model, event.at, layout)
            guard layout.list.contains(event.at), model.parts.row(at: event.at, model, layout) != nil else {
                return effects
            }
            return effects + perform(&model, model.parts.doubleClick)
        case .drag: return model.parts.drag(&model, event.at, layout)
        case .release: return []
        }
    }

    private static func mouse(_ model: inout Model, _ event: MouseEvent, in overlay: Overlay) -> [Effect] {
        func button(_ dialog: Dialog) -> Int? {
            dialog.places(in: OverlayPlaces.dialogs(model)).buttons.firstIndex { $0.contains(event.at) }
        }
        func item(_ list: Rect, from first: Int, of count: Int, rows: Int = 1) -> Int? {
            let item = first + (event.at.row - list.row) / rows
            return list.contains(event.at) && item < count ? item : nil
        }
        /// Presses Enter on the clicked button or item.
        func press<Dialog>(
            _ dialog: Dialog, _ selection: WritableKeyPath<Dialog, Int>, _ clicked: Int?,
            _ overlay: (Dialog) -> Overlay
        ) -> [Effect] {
            guard let clicked else { return [] }
            var dialog = dialog
            dialog[keyPath: selection] = clicked
            return Browser.press(&model, Key(.enter), in: overlay(dialog))
        }
        switch (overlay, event.kind) {
        case (_, .wheelUp): return Browser.press(&model, Key(.up), in: overlay)
        case (_, .wheelDown): return Browser.press(&model, Key(.down), in: overlay)
        case (.plan(let plan), .click):
            return press(plan, \.button, button(OverlayPlaces.dialog(plan, model)), Overlay.plan)
        case (.edit(let plan), .click):
            return press(plan, \.button, button(OverlayPlaces.dialog(plan, model)), Overlay.edit)
        case (.choice(let choice), .click):
            return press(choice, \.selected, button(OverlayPlaces.dialog(choice)), Overlay.choice)
        case (.expire(var form), .click):
            let dialog = OverlayPlaces.dialog(form, model)
            if let button = button(dialog) { return press(form, \.button, button, Overlay.expire) }
            let content = dialog.places(in: OverlayPlaces.dialogs(model)).content
            let row = item(content, from: OverlayPlaces.firstChoice(form, in: content), of: .max)
            if let choice = row.flatMap(ExpireForm.Choice.init), !form.targets.isEmpty {
                (form.choice, form.problem) = (choice, nil)
                model.overlay = .expire(form)
            }
            return []
        case (.undoList(let list), .click):
            let places = OverlayPlaces.undoList(list, model)
            let row = item(places.list, from: list.first, of: list.actions.count, rows: places.rowsPerItem)
            return press(list, \.selected, row, Overlay.undoList)
        case (.search(let list), .click):
            let row = item(OverlayPlaces.search(list, model).list, from: list.first, of: list.found.count)
            return press(list, \.selected, row, Overlay.search)
        case (.columns(var choice), .click):
            choice.field = TextField()
            let list = OverlayPlaces.columns(choice, model).list
            let row = item(list, from: choice.first, of: choice.items.count)
            return press(choice, \.selected, row, Overlay.columns)
        case (.copy(let menu), .click):
            let row = item(OverlayPlaces.copy(menu, model).list, from: menu.first, of: menu.items.count)
            return press(menu, \.selected, row, Overlay.copy)
        case (.actions(let list), .click), (.actions(let list), .doubleClick):
            let row = item(OverlayPlaces.actions(list, model).list, from: list.first, of: .max)
            return press(list, \.selected, row, Overlay.actions)
        case (.message, .click): return Browser.press(&model, Key(.enter), in: overlay)
        default: return []
        }
    }
}
