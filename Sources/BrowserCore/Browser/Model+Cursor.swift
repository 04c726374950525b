import StoreInspection

extension Model {
    package var cursorKey: String? { parts.key(self) }

    var marked: (marks: Marks, archive: ArchiveAddress)? {
        let marks = screen == .entries ? entries?.marks : screen == .query ? query?.marks : nil
        guard let marks, !marks.isEmpty, let archive = archiveInView else { return nil }
        return (marks, archive)
    }

    package var cursorRow: Int { parts.cursor(self) }

    package var firstRow: Int { parts.firstRow(self) }

    var archiveInView: ArchiveAddress? { parts.archive(self) }

    /// Whether `q` quits here instead of going back: the list of stores, or archives from which the list was never opened.
    var isFirstScreen: Bool { screen == .stores || screen == .archives && stores.stores == nil }

    /// The screen to return to from `new`: the current one, or the origin of `new` if it is open below.
    func origin(opening new: Screen) -> Screen {
        var place = screen
        for _ in Screen.allCases {
            let before: Screen? =
                switch place {
                case .value: value?.origin
                case .query: query?.origin
                case .monitor: monitor?.origin
                case .advise: advise?.origin
                default: nil
                }
            if place == new { return before ?? .archives }
            guard let before else { break }
            place = before
        }
        return screen
    }

    /// Goes back to a screen, or to the closest one that is still open.
    mutating func goBack(to origin: Screen) {
        let isOpen =
            switch origin {
            case .stores, .archives: true
            case .monitor: monitor != nil
            default: origin.parts.archive(self) != nil
            }
        screen = isOpen ? origin : entries != nil ? .entries : .archives
    }

    package var readEvents: Int { events.end }
    package var said: String? { notice?.text }

    package var markedKeys: [String] { entries?.marks.list.map(\.key).sorted() ?? [] }

    package var isPlanOpen: Bool { overlay is Plan }

    package var planned: [Target]? { (overlay as? Plan)?.targets }
}
