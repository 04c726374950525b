/// The removals in a log, while an index is built from it. A copy (`move`) has the sequence of the frame that it copies, and must
/// not revert later changes of its key. OnDiskFormat, "Losses of the log".
struct ReplayedRemovals {
    /// More would take more memory than a rebuild may use; the earliest are dropped then.
    private static let most = 1 << 20

    private struct Removal {
        var place: Location
        var sequence: UInt64
    }

    /// The latest removal of a key, by its tag. If two keys share a tag, the earlier removal is dropped.
    private var removals: [UInt32: Removal] = [:]
    private var allBefore: UInt64 = 0
    /// Damaged entries whose keys can be read, in a collection.
    var damaged: Set<Location> = []
    /// For each line of the undo table: the action, and the count of its entries that the log no longer has.
    private var missing = [(group: UInt32, entries: Int)](repeating: (0, 0), count: IndexLayout.undoLines)

    mutating func add(_ tag: UInt32, at place: Location, _ sequence: UInt64) {
        removals[tag] = Removal(place: place, sequence: sequence)
        guard removals.count > ReplayedRemovals.most else { return }
        let middle = removals.values.map(\.sequence).sorted()[removals.count / 2]
        removals = removals.filter { $0.value.sequence > middle }
    }

    mutating func addAll(before sequence: UInt64) {
        removals = [:]
        allBefore = max(allBefore, sequence)
    }

    /// Called when an undo restored entries: their sequences may be older than the removals of other entries of their keys.
    mutating func removeAll() { (removals, allBefore) = ([:], 0) }

    mutating func adjustMissing(of group: UInt32, by change: Int) {
        missing[IndexLayout.undoPlace(of: group)] = (group, max(0, missing(of: group) + change))
    }

    func missing(of group: UInt32) -> Int {
        let line = missing[IndexLayout.undoPlace(of: group)]
        return line.group == group ? line.entries : 0
    }

    /// Whether a key with this tag was removed after operation `sequence`. `all`: certainly; `place`: if the frame there has the key.
    func place(of tag: UInt32, after sequence: UInt64) -> (all: Bool, place: Location?) {
        guard let removal = removals[tag], removal.sequence > sequence else {
            return (sequence < allBefore, nil)
        }
        return (sequence < allBefore, removal.place)
    }
}
