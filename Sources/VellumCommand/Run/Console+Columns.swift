extension Console {
    private static let mostNamed = 30

    static func sayLeftOut(_ titles: [String]) {
        guard !titles.isEmpty else { return }
        let columns = titles.count == 1 ? "1 column" : "\(titles.count) columns"
        let rest = titles.count - mostNamed
        let names = titles.prefix(mostNamed).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        say("left out \(columns) that did not fit: \(names)")
    }
}

extension OutputWriter {
    static func print(_ text: String) throws(SourceError) {
        let output = OutputWriter()
        try output.write(text)
        try output.flush()
    }

    func write(_ members: [(name: String, value: Cell)]) throws(SourceError) {
        for (name, cell) in members { try write("\(name)\t\(isTerminal ? cell.human : cell.plain)\n") }
    }
}

extension RowPrinter {
    /// Prints to standard output, in the layout that fits it or as `json`.
    init(_ columns: [Column], json: RowLayout? = nil) {
        let output = OutputWriter()
        self.init(columns, layout: .fitting(output, json: json), output: output)
    }

    /// Calls ``finish()`` and reports omitted columns.
    mutating func end() throws(SourceError) {
        try finish()
        Console.sayLeftOut(leftOut)
    }
}
