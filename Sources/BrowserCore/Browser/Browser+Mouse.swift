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

    private static func mouse(
        _ model: inout Model, _ event: MouseEvent, in overlay: any Overlay
    ) -> [Effect] {
        switch event.kind {
        case .wheelUp: return press(&model, Key(.up), in: overlay)
        case .wheelDown: return press(&model, Key(.down), in: overlay)
        case .click: return overlay.click(&model, event.at)
        case .doubleClick where overlay is ActionList: return overlay.click(&model, event.at)
        default: return []
        }
    }
}
