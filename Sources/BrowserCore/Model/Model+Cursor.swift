import StoreInspection

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
        case .query: query?.cursor ?? 0
        case .messages: log?.row ?? 0
        case .monitor: monitorRow
        }
    }

    /// The first row in view.
    package var firstRow: Int {
        switch screen {
        case .stores: stores.top
        case .archives: archives.top
        case .entries: entries?.top ?? 0
        case .value: value?.top ?? 0
        case .query: query?.top ?? 0
        case .messages: max(0, (log?.top ?? 0) - (log?.available?.lowerBound ?? 0))
        case .monitor: (monitor?.part == .processes ? monitor?.processTop : monitor?.top) ?? 0
        }
    }

    private var monitorRow: Int {
        guard let monitor else { return 0 }
        return monitor.part == .processes ? monitor.processRow : monitor.row(events)
    }

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
