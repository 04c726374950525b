import StorageEngine
import StoreInspection

struct AdviseState: Sendable {
    let archive: ArchiveAddress
    let origin: Screen
    /// Freed with this state, when the screen is left.
    let advisor = SharedAdvisor()
    /// Nil before the first response, and without recorded requests.
    var advice: ArchiveAdvice?
    var isLoaded = false
    /// When the advice was requested.
    var asked: Timestamp?
    var isPending = false
    var problem: String?
    /// The marked limit; nil: the present one.
    var limit: Int?
    /// The name of the selected group; nil: the first one.
    var group: String?
    var top = 0
    /// Whether the group was selected after the limit was marked.
    var isInGroups = false

    init(archive: ArchiveAddress, origin: Screen) { (self.archive, self.origin) = (archive, origin) }

    /// The index of the simulated limit that is closest to the marked one; nil if none is simulated.
    func marked(among limits: [Int]) -> Int? {
        let marked = Double(limit ?? Int(clamping: advice?.limit ?? 0))
        return limits.indices.min { abs(Double(limits[$0]) - marked) < abs(Double(limits[$1]) - marked) }
    }

    /// The row of the selected group.
    var row: Int {
        let name = group.map(ExactText.init)
        return advice?.groups.firstIndex { ExactText($0.name) == name } ?? 0
    }
}
