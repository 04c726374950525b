import StoreInspection

extension Narration {
    private static let mostNamed = 30

    /// Says which columns of a table there was no room for.
    static func sayLeftOut(_ titles: [String]) {
        guard !titles.isEmpty else { return }
        let columns = titles.count == 1 ? "1 column" : "\(titles.count) columns"
        let rest = titles.count - mostNamed
        let names = titles.prefix(mostNamed).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        say("left out \(columns) for want of room: \(names)")
    }
}

extension RowPrinter {
    /// As ``finish()``, and says what it left out.
    mutating func end() throws(SourceError) {
        try finish()
        Narration.sayLeftOut(leftOut)
    }
}
