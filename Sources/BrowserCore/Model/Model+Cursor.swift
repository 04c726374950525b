extension Model {
    /// The key that the cursor of the entries or the value screen holds to.
    package var cursorKey: String? { screen == .value ? value?.key : entries?.key }

    /// The row under the cursor of the screen's list, from 0.
    package var cursorRow: Int {
        switch screen {
        case .stores: stores.cursor
        case .archives: archives.cursor
        case .entries: entries?.cursor ?? 0
        case .value: value?.position ?? 0
        }
    }

    /// The first row in view.
    package var firstRow: Int {
        switch screen {
        case .stores: stores.top
        case .archives: archives.top
        case .entries: entries?.top ?? 0
        case .value: value?.top ?? 0
        }
    }

    package var markedKeys: [String] { entries?.marks.list.map(\.key) ?? [] }

    /// What the plan that is open would delete.
    package var planned: [Target]? {
        guard case .plan(let plan) = overlay else { return nil }
        return plan.targets
    }
}
