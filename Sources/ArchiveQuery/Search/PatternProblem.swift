/// The mistake in an invalid regular expression, for which Foundation gives no reason.
package struct PatternProblem: Sendable, Equatable {
    /// Characters before the mistake.
    package let position: Int
    package let reason: String

    /// Nil if no usual mistake is found.
    package init?(_ pattern: String) {
        var scan = Scan(characters: Array(pattern))
        guard let (position, reason) = scan.problem() else { return nil }
        (self.position, self.reason) = (position, reason)
    }
}

private struct Scan {
    let characters: [Character]
    private var place = 0
    private var open: [Int] = []
    private var hasPart = false

    init(characters: [Character]) { self.characters = characters }

    typealias Problem = (position: Int, reason: String)

    mutating func problem() -> Problem? {
        while place < characters.count {
            if let problem = step() { return problem }
        }
        return open.last.map { ($0, "the parenthesis is not closed") }
    }

    private func character(_ ahead: Int) -> Character? {
        place + ahead < characters.count ? characters[place + ahead] : nil
    }

    private mutating func step() -> Problem? {
        let start = place
        switch characters[place] {
        case "\\": return escape()
        case "(":
            open.append(start)
            hasPart = false
            place += 1
            return character(0) == "?" ? options(start) : nil
        case ")":
            guard open.popLast() != nil else {
                return (start, "no parenthesis is open here; itself it is \\)")
            }
            hasPart = true
        case "[": return set()
        case "|": hasPart = false
        case "*", "+", "?":
            guard hasPart else {
                return (
                    start, "nothing stands before \(characters[start]); itself it is \\\(characters[start])"
                )
            }
            skipManner()
        case "{": return interval()
        default: hasPart = true
        }
        place += 1
        return nil
    }

    /// Skips a reluctant or possessive mark.
    private mutating func skipManner() {
        if character(1) == "?" || character(1) == "+" { place += 1 }
        hasPart = false
    }

    private mutating func escape() -> Problem? {
        guard let next = character(1) else { return (place, "a backslash at the end; itself it is \\\\") }
        hasPart = true
        if next == "Q" {
            while place < characters.count, !(characters[place] == "\\" && character(1) == "E") { place += 1 }
        } else if let bracket = character(2), "pPxNk".contains(next), bracket == "{" || bracket == "<" {
            let start = place
            let end: Character = bracket == "{" ? "}" : ">"
            while place < characters.count, characters[place] != end { place += 1 }
            guard place < characters.count else {
                return (start, "\\\(next)\(bracket) is not closed by \(end)")
            }
            place -= 1
        }
        place += 2
        return nil
    }

    private mutating func options(_ start: Int) -> Problem? {
        let known = "imsxw-:=!><#"
        guard let next = character(1), known.contains(next) else {
            return (start, "(? is followed by :, =, !, >, <name> or options such as i")
        }
        place += 1
        return nil
    }

    private mutating func set() -> Problem? {
        let start = place
        place += 1
        if character(0) == "^" { place += 1 }
        var depth = 1
        var before: Character?
        while place < characters.count {
            switch characters[place] {
            case "\\":
                place += 1
                before = nil
            case "[":
                depth += 1
                before = nil
            case "]":
                depth -= 1
                before = nil
            case "-":
                if let low = before, let high = character(1), !"]\\[".contains(high), high < low {
                    return (place - 1, "the range \(low)-\(high) ends before it begins")
                }
                before = nil
            case let character: before = character
            }
            place += 1
            if depth == 0 {
                hasPart = true
                return nil
            }
        }
        return (start, "the bracket is not closed; itself it is \\[")
    }

    private mutating func interval() -> Problem? {
        let start = place
        guard hasPart, let end = characters[place...].firstIndex(of: "}") else {
            return (start, "{ says how often, as in a{2,3}; itself it is \\{")
        }
        let numbers = String(characters[(start + 1)..<end]).split(
            separator: ",", omittingEmptySubsequences: false)
        guard (1...2).contains(numbers.count), let least = Int(numbers[0]),
            numbers.count == 1 || numbers[1].isEmpty || Int(numbers[1]) != nil
        else { return (start, "{ says how often, as in a{2,3}; itself it is \\{") }
        if numbers.count == 2, let most = Int(numbers[1]), most < least {
            return (start, "{\(least),\(most)} ends before it begins")
        }
        place = end
        skipManner()
        place += 1
        return nil
    }
}
