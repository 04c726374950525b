import StoreInspection

/// What is looked for in a value, and where it was found.
struct ValueFind: Sendable {
    var text = ""
    /// Where looking began: a byte, or a node of the tree. The first match is the first from here on.
    var start = 0
    var ticket: Int?
    /// Nil while it is looked for, and if that was stopped.
    var found: FoundPlaces?
    /// The match that was gone to.
    var current: Int?
    /// Whether the value changed while it was searched.
    var isOfOther = false

    mutating func forget() {
        (ticket, found, current, isOfOther) = (nil, nil, nil, false)
    }

    /// Where the match is that was gone to: bytes, or nodes of the tree.
    var match: Range<Int>? { current.flatMap { found?.places[$0] } }

    /// `3 of 41`, or why there is no such place.
    var note: String {
        guard !text.isEmpty else { return "" }
        guard let found else { return ticket == nil ? "not searched" : "finding" }
        if isOfOther { return "the value changed during the search" }
        if found.count == 0 { return "no match" }
        let count = Figures.count(found.count)
        let all =
            found.count > found.places.count
            ? "\(count), the first \(Figures.count(found.places.count)) kept" : count
        return current.map { "\(Figures.count($0 + 1)) of \(all)" } ?? "\(all) matches"
    }
}
