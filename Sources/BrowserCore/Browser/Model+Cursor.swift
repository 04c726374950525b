import StoreInspection

extension Model {
    /// The key that the cursor holds to.
    package var cursorKey: String? { parts.key(self) }

    /// The row under the cursor of the screen's list, from 0.
    package var cursorRow: Int { parts.cursor(self) }

    /// The first row in view.
    package var firstRow: Int { parts.firstRow(self) }

    /// The archive that the screen is about.
    var archiveInView: ArchiveAddress? { parts.archive(self) }

    /// What the status line says for a while.
    package var said: String? { notice?.text }

    package var markedKeys: [String] { entries?.marks.list.map(\.key) ?? [] }

    /// Whether a plan is open: only its button writes.
    package var isPlanOpen: Bool {
        if case .plan = overlay { return true }
        return false
    }

    /// What the plan that is open would delete or change.
    package var planned: [Target]? {
        guard case .plan(let plan) = overlay else { return nil }
        return plan.targets
    }
}
