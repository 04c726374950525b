/// The meaning of a piece of the screen; a ``Theme`` defines its appearance.
package enum Role: String, Sendable, Hashable, CaseIterable {
    case text, dim
    /// The bar at the top of the screen and the row of column titles.
    case title, header
    /// What stands on the title bar besides the title. It is dark in every theme, so colors for the terminal's ground don't do.
    case titleDim, titleGood, titleWarning
    /// The row under the cursor, in the pane that has the keyboard and in the others.
    case selected, selectedInactive
    case marked, accent, good, warning, danger, border
    case gaugeFill, gaugeEmpty
    /// Rows that appeared, changed or are about to go.
    case new, changed, dying
    /// A search match.
    case match
    case error, badge
    /// The footer's keys and the words beside them.
    case key, hint
    /// A text field, and what it shows while empty.
    case input, placeholder
    /// A dialog's surface and its buttons.
    case dialog, dialogBorder, button, buttonDefault
    case scrollTrack, scrollThumb
}
