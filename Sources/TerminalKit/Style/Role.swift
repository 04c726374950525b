/// The meaning of a piece of the screen; a ``Theme`` defines its appearance.
package enum Role: String, Sendable, Hashable, CaseIterable {
    case text, dim
    case title, header
    /// Other text on the title bar, which is dark in every theme.
    case titleDim, titleGood, titleWarning
    /// The row under the cursor, in the focused pane and in others.
    case selected, selectedInactive
    case marked, accent, good, warning, danger, border
    case gaugeFill, gaugeEmpty
    /// Rows that appeared, changed or will disappear.
    case new, changed, disappearing
    case match
    case error, badge
    /// The footer's keys and their descriptions.
    case key, hint
    case input, placeholder
    case dialog, dialogBorder, button, buttonDefault
    case scrollTrack, scrollThumb
}
