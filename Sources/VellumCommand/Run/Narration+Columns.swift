import StoreInspection

extension Narration {
    private static let mostNamed = 30

    /// Reports the columns that didn't fit.
    static func sayLeftOut(_ titles: [String]) {
        guard !titles.isEmpty else { return }
        let columns = titles.count == 1 ? "1 column" : "\(titles.count) columns"
        let rest = titles.count - mostNamed
        let names = titles.prefix(mostNamed).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        say("left out \(columns) that did not fit: \(names)")
    }
}

extension RowPrinter {
    /// Calls ``finish()`` and reports omitted columns.
    mutating func end() throws(SourceError) {
        try finish()
        Narration.sayLeftOut(leftOut)
    }
}
