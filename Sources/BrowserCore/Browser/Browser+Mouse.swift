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
        case (.search(var list), .click):
            let rows = OverlayPlaces.search(list, model).list
            let row = list.first + event.at.row - rows.row
            guard rows.contains(event.at), list.found.indices.contains(row) else { return [] }
            list.selected = row
            return press(&model, Key(.enter), in: .search(list))
        case (.columns(var choice), .click):
            let rows = OverlayPlaces.columns(choice, model).list
            guard rows.contains(event.at), choice.first + event.at.row - rows.row < choice.items.count
            else { return [] }
            choice.selected = choice.first + event.at.row - rows.row
            return press(&model, Key(.enter), in: .columns(choice))
        case (.choice(var choice), .click):
            let places = OverlayPlaces.dialog(choice).places(in: OverlayPlaces.dialogs(model))
            guard let button = places.buttons.firstIndex(where: { $0.contains(event.at) }) else { return [] }
            choice.selected = button
            return press(&model, Key(.enter), in: .choice(choice))
        case (.edit(var plan), .click):
            let places = OverlayPlaces.dialog(plan, model).places(in: OverlayPlaces.dialogs(model))
            guard let button = places.buttons.firstIndex(where: { $0.contains(event.at) }) else { return [] }
            plan.button = button
            return press(&model, Key(.enter), in: .edit(plan))
        case (.copy(var menu), .click):
            let places = OverlayPlaces.copy(menu, model)
            guard places.list.contains(event.at) else { return [] }
            let row = menu.first + event.at.row - places.list.row
            guard menu.items.indices.contains(row) else { return [] }
            menu.selected = row
            return press(&model, Key(.enter), in: .copy(menu))
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
