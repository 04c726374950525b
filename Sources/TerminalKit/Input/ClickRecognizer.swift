/// Derives clicks and double clicks from presses and releases.
package struct ClickRecognizer: Sendable {
    package static let doubleClickMilliseconds: UInt64 = 400

    private var pressed: MouseEvent?
    private var lastClick: (event: MouseEvent, time: UInt64)?

    package init() {}

    /// Returns the event. Adds a click if it is a release at the press's position.
    /// - Parameter milliseconds: the event's time by a monotonic clock.
    package mutating func events(for event: MouseEvent, at milliseconds: UInt64) -> [MouseEvent] {
        switch event.kind {
        case .press: pressed = event
        case .release:
            defer { pressed = nil }
            // X10 reports don't include the released button.
            guard let pressed, pressed.at == event.at,
                event.button == pressed.button || event.button == .none
            else { break }
            var click = pressed
            click.kind = .click
            if let lastClick, lastClick.event.at == click.at, lastClick.event.button == click.button,
                milliseconds &- lastClick.time <= ClickRecognizer.doubleClickMilliseconds
            {
                click.kind = .doubleClick
                self.lastClick = nil
            } else {
                lastClick = (click, milliseconds)
            }
            return [event, click]
        default: break
        }
        return [event]
    }
}
