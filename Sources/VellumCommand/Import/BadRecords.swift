/// Reports the first bad records of each reason with their lines, and the number of others. For one thread.
struct BadRecords {
    private static let named = 10
    private static let mostReasons = 50

    private let file: String
    private(set) var count = 0
    private var counts: [String: Int] = [:]
    private var reasons: [String] = []

    init(of file: String) { self.file = file }

    mutating func add(line: Int, _ reason: String) {
        count += 1
        let kind = counts.count < Self.mostReasons ? Self.kind(of: reason) : "of other reasons"
        let seen = counts[kind, default: 0] + 1
        if seen == 1 { reasons.append(kind) }
        counts[kind] = seen
        if seen <= Self.named { Console.warn("\(file):\(line): \(reason)") }
    }

    func finish() {
        for kind in reasons {
            guard let count = counts[kind], count > Self.named else { continue }
            let more = Figures.count(count - Self.named, "record", "records")
            Console.warn("\(file): \(more) more: \(kind)")
        }
    }

    /// The reason without numbers and quoted text.
    private static func kind(of reason: String) -> String {
        var kind = ""
        var isQuoted = false
        for byte in reason.utf8 {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            if isQuoted || byte == UInt8(ascii: "\"") || isDigit {
                if kind.utf8.last != UInt8(ascii: "#") { kind += "#" }
            } else {
                kind.unicodeScalars.append(UnicodeScalar(byte))
            }
        }
        return kind.replacing("#", with: "…")
    }
}
