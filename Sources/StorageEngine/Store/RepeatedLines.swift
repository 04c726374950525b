struct RepeatedLines {
    private var counts: [String: Int] = [:]
    private var order: [String] = []
    private var others = 0

    init(_ lines: [String]) { for line in lines { add(line) } }

    mutating func add(_ line: String) {
        if let count = counts[line] {
            counts[line] = count + 1
        } else if order.count < BackupReport.mostDamaged {
            counts[line] = 1
            order.append(line)
        } else {
            others += 1
        }
    }

    func lines(of things: String) -> [String] {
        order.map { line in
            let count = counts[line] ?? 1
            return count > 1 ? "\(line) (\(count) \(things))" : line
        } + (others > 0 ? ["and \(others) more"] : [])
    }
}
