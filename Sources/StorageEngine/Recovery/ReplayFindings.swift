struct ReplayFindings {
    var damaged = 0
    var problems: [String] = []
    var isWhole = true
    /// Findings in the newest segment, with their locations. Those after the beginning of an incomplete last batch don't
    /// count: it was never acknowledged.
    private var atEnd: [(place: Location, problem: String)] = []

    mutating func add(_ problem: String) {
        damaged += 1
        if problems.count < CheckReport.maximumProblems { problems.append(problem) }
    }

    mutating func add(_ problem: String, at place: Location, isNewest: Bool) {
        if isNewest { atEnd.append((place, problem)) } else { add(problem) }
    }

    mutating func endLog(cut: Location?) {
        for (place, problem) in atEnd where cut.map({ place < $0 }) ?? true { add(problem) }
        atEnd = []
    }
}
