/// Damage that a rebuild of the index has found.
struct ReplayFindings {
    var damaged = 0
    /// By segment, except the newest: the offset where its frames end, if only zeros follow.
    var ends: [UInt32: Int] = [:]
    /// Damaged places in the newest segment. Places in an incomplete last batch don't count, because it was never acknowledged.
    private var atEnd: [Location] = []

    mutating func add(at place: Location, isNewest: Bool) {
        if isNewest { atEnd.append(place) } else { damaged += 1 }
    }

    mutating func endLog(cut: Location?) {
        damaged += atEnd.count { place in cut.map { place < $0 } ?? true }
        atEnd = []
    }
}
