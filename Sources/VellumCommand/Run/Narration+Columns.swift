import StoreInspection

extension Narration {
    /// Says which columns of a table the terminal had no room for.
    static func sayLeftOut(_ titles: [String]) {
        guard !titles.isEmpty else { return }
        let columns = titles.count == 1 ? "1 column" : "\(titles.count) columns"
        say("left out \(columns) for want of room: \(titles.joined(separator: ", "))")
    }
}

extension RowPrinter {
    /// As ``finish()``, and says what it left out.
    mutating func end() throws(SourceError) {
        try finish()
        Narration.sayLeftOut(leftOut)
    }
}
