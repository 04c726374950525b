import StorageEngine
import StoreInspection

/// The screen of archives.
struct ArchivesState: Sendable {
    /// Nil until the store was read.
    var figures: StoreFigures?
    var problem: String?
    /// The name that the cursor holds to.
    var selected: String?
    var top = 0
    var isPending = false
    /// What each archive did while the store was looked at.
    var histories: [ExactText: ArchiveHistory] = [:]
    /// As they were when the screen was paused, which is what it shows.
    var pausedHistories: [ExactText: ArchiveHistory]?
    var shownHistories: [ExactText: ArchiveHistory] { pausedHistories ?? histories }
    var alarms: [Alarm] = []
    /// Seconds that graphs show.
    var span = 300.0
    var showsEvents = true

    var archives: [ArchiveSample] { figures?.archives ?? [] }
    /// What graphs are of: a server has counters for all its databases together.
    var counted: [ArchiveSample] { figures?.counted ?? [] }
    var cursor: Int { archives.firstIndex { ExactText($0.name) == selected.map(ExactText.init) } ?? 0 }

    func summary(_ name: String) -> ArchiveSample? {
        archives.first { ExactText($0.name) == ExactText(name) }
    }
}
