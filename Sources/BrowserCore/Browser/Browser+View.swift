import TerminalKit

extension Browser {
    /// Draws the model. Depends only on the model, and reads only the visible rows of lists.
    package static func view(_ model: Model, into frame: inout Frame) {
        let layout = model.layout
        frame.fill(frame.bounds, style: model.look[.text])
        TitleView.draw(model, into: &frame, in: layout.title)
        model.screen.draw(model, layout, into: &frame)
        HintLine.draw(model, into: &frame, in: layout.hints)
        FooterView.draw(model, into: &frame, in: layout.footer)
        // On low screens the box would cover the status line.
        if model.overlay == nil || model.size.rows >= OverlayPlaces.minimumRows {
            StatusView(model).draw(into: &frame, in: layout.status, model)
        }
        OverlayView.draw(model, into: &frame)
    }

    package static func frame(_ model: Model) -> Frame {
        var frame = Frame(size: model.size, isASCII: model.look.isASCII)
        view(model, into: &frame)
        return frame
    }
}
