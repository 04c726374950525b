import ArchiveQuery
import CacheSimulation

struct AdviseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advise", abstract: "Simulates eviction policies and limits on a trace of requests.",
        discussion: """
            A trace is a text file, or - for standard input, with a line for each request: the key, or key and size in bytes, \
            separated by a space, tab or comma. Empty lines and lines that begin with # are skipped.

            Prints the hit ratio of each policy at each limit, with * at the best one that needs no knowledge of the future, a \
            graph, and a recommendation. Policies: lru, sieve, s3fifo, wtinylfu, and opt, Belady's optimum. --json prints one object: \
            requests, keys, and points, an array of limit, policy and hitRatio.

            Example: vellum advise --trace requests.txt --limits 500,2000,8000
            """)

    @Option(
        help: ArgumentHelp("The trace; - is standard input.", valueName: "file"), completion: .file())
    var trace: String

    @Option(
        help: ArgumentHelp(
            "Limits: entries, or with --unit bytes sizes such as 20MB (default: powers of two up to all keys).",
            valueName: "limit,…"))
    var limits: String?

    @Option(help: ArgumentHelp("What a limit counts: entries or bytes.", valueName: "unit"))
    var unit = LimitUnit.entries

    @Option(
        help: ArgumentHelp("Policies to simulate (default: all).", valueName: "policy,…"),
        transform: AdviseCommand.policies)
    var policies = CachePolicy.allCases

    @Option(
        help: ArgumentHelp(
            "Simulate one key in this number, but at least 16,384 keys; 1 is all.", valueName: "number"))
    var sampling = 1

    @Flag(help: "Print one JSON object.")
    var json = false

    mutating func validate() throws {
        if sampling < 1 { throw ValidationError("--sampling is 1 or more") }
        _ = try chosenLimits()
    }

    func run() throws {
        Interruption.collect()
        let requests = try TraceFile(path: trace).read(unit: unit, sampling: sampling)
        let limits = try chosenLimits() ?? Self.defaultLimits(upTo: requests.workingSet)
        var points: [MissRatioCurve.Point] = []
        for limit in limits {
            for policy in policies {
                try Interruption.check()
                points.append(requests.point(policy, limit: limit))
            }
        }
        try Interruption.check()
        let output = OutputWriter()
        if json {
            try Self.json(requests, points).writeLine(to: output)
        } else {
            try AdviceText(points, policies, unit: unit).write(requests, to: output)
        }
        try output.flush()
    }

    static func policies(_ text: String) throws -> [CachePolicy] {
        try text.split(separator: ",", omittingEmptySubsequences: false).reduce(into: []) { chosen, name in
            guard let policy = CachePolicy(rawValue: name.lowercased()) else {
                throw ValidationError(
                    "unknown policy \(TerminalSafe.quoted(String(name))); policies are "
                        + CachePolicy.allCases.map(\.rawValue).joined(separator: ", "))
            }
            if !chosen.contains(policy) { chosen.append(policy) }
        }
    }

    /// Nil without the option.
    private func chosenLimits() throws -> [Int]? {
        try limits?.split(separator: ",", omittingEmptySubsequences: false).reduce(into: []) { chosen, text in
            let shown = TerminalSafe.quoted(String(text))
            let bytes = SizeText.bytes(text)
            if unit == .entries, bytes != nil, UInt64(text) == nil {
                throw ValidationError(
                    "the limit \(shown) is a size; pass --unit bytes or a number of entries")
            }
            guard let limit = bytes.flatMap(Int.init(exactly:)), limit > 0 else {
                let form =
                    unit == .bytes ? "sizes above 0 such as 20MB,1GB" : "numbers above 0 such as 500,2000"
                throw ValidationError("the limit \(shown) can't be used; --limits takes \(form)")
            }
            if !chosen.contains(limit) { chosen.append(limit) }
        }
    }

    /// Powers of two from a 64th of the size to the first that isn't smaller than it.
    private static func defaultLimits(upTo size: Int) -> [Int] {
        var limits = [1 << max(0, Int.bitWidth - 1 - max(1, size / 64).leadingZeroBitCount)]
        while let last = limits.last, last < size, last <= Int.max / 2 { limits.append(last * 2) }
        return limits
    }

    private static func json(_ trace: RecordedTrace, _ points: [MissRatioCurve.Point]) -> JSONTree {
        .object([
            ("requests", .count(trace.requests)), ("keys", .count(trace.keys)),
            (
                "points",
                .array(
                    points.map {
                        .object([
                            ("limit", .count($0.limit)), ("policy", .text($0.policy.rawValue)),
                            ("hitRatio", .cell(.ratio($0.hitRatio))),
                        ])
                    })
            ),
        ])
    }
}

extension LimitUnit: ExpressibleByArgument {}
