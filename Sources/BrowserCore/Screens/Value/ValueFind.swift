import StoreInspection

struct ValueFind: Sendable {
    var text = ""
    /// The byte or node where the search began. The first match is the first behind it.
    var start = 0
    var ticket: Int?
    /// Nil until the search ends.
    var found: FoundPlaces?
    var current: Int?
    var isOfOther = false

    mutating func forget() {
        (ticket, found, current, isOfOther) = (nil, nil, nil, false)
    }

    /// The selected match, in bytes or nodes.
    var match: Range<Int>? { current.flatMap { found?.places[$0] } }

    var note: String {
        guard !text.isEmpty else { return "" }
        guard let found else { return ticket == nil ? "not searched" : "searching" }
        if isOfOther { return "the value changed during the search" }
        if found.count == 0 { return "no match" }
        let count = Figures.count(found.count)
        let all =
            found.count > found.places.count
            ? "\(count), the first \(Figures.count(found.places.count)) kept" : count
        return current.map { "\(Figures.count($0 + 1)) of \(all)" } ?? "\(all) matches"
    }
}
