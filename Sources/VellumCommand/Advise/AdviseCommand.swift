import ArchiveQuery
import CacheSimulation

struct AdviseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advise", abstract: "Simulates other limits and eviction policies for a cache.",
        discussion: """
            For an archive: hit ratios at 1/16 to 16 times the limit under each policy, simulated from the recorded requests of \
            sampled keys; reads of expired entries; size and reads by owner or, without owners, by key prefix; and a \
            recommendation with the command that applies it. The first half of the requests fills the simulated caches; only the \
            second half is counted. --export-trace also writes the requests as a trace, with hashes instead of keys.

            With --trace, for a text file instead, or - for standard input, with a line for each request: the key, or key and \
            size in bytes, separated by a space, tab or comma. Empty lines and lines that begin with # are skipped.

            Policies: lru, sieve, s3fifo, wtinylfu, and opt, Belady's optimum, which knows the future. * marks the best of the \
            others at each limit. A sample of the keys gives too high hit ratios for sieve at small limits, so it isn't marked \
            there. --json prints one object with points, an array of limit, policy and hitRatio.

            Examples:
            vellum advise City
            vellum advise --trace requests.txt --limits 500,2000,8000
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.", completion: .archives)
    var archive: String?

    @Option(
        help: ArgumentHelp(
            "Simulate a trace instead of an archive's requests; - is standard input.", valueName: "file"),
        completion: .file())
    var trace: String?

    @Option(
        help: ArgumentHelp(
            "Limits: sizes such as 20MB, or for a trace without --unit bytes numbers of entries (default: powers of two).",
            valueName: "limit,…"))
    var limits: String?

    @Option(help: ArgumentHelp("With --trace: what a limit counts, entries or bytes.", valueName: "unit"))
    var unit: LimitUnit?

    @Option(
        help: ArgumentHelp("Policies to simulate (default: all).", valueName: "policy,…"),
        transform: AdviseCommand.policies)
    var policies = CachePolicy.allCases

    @Option(
        help: ArgumentHelp(
            "With --trace: simulate one key out of this number, but at least 16,384 keys; 1 is all.",
            valueName: "number"))
    var sampling: Int?

    @Option(
        help: ArgumentHelp("Also write the archive's recorded requests to a file.", valueName: "file"),
        completion: .file())
    var exportTrace: String?

    @OptionGroup var replacement: Replacement

    @Flag(help: "Print one JSON object.")
    var json = false

    mutating func validate() throws {
        guard (archive == nil) != (trace == nil) else {
            throw ValidationError("pass an archive, or --trace with a file")
        }
        if trace == nil {
            if unit == .entries { throw ValidationError("an archive's limit counts bytes, not entries") }
            if sampling != nil {
                throw ValidationError(
                    "--sampling requires --trace; an archive's requests are already sampled")
            }
        } else if exportTrace != nil {
            throw ValidationError("--export-trace requires an archive, not --trace")
        }
        if let sampling, sampling < 1 { throw ValidationError("--sampling must be 1 or more") }
        _ = try chosenLimits()
    }

    private var limitUnit: LimitUnit { trace == nil ? .bytes : unit ?? .entries }

    func run() throws {
        Interruption.collect()
        if let trace { try simulate(trace) } else { try advise() }
    }

    private func simulate(_ trace: String) throws {
        let unit = limitUnit
        let requests = try TraceFile(path: trace).read(unit: unit, sampling: sampling ?? 1)
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
            try CurveText(points, policies, unit: unit, rate: requests.rate).write(requests, to: output)
        }
        try output.flush()
    }

    private func advise() throws {
        let archive = try store.openReadOnly().archive(named: archive ?? "")
        if let reason = CacheAdvisor.unsupportedReason(for: try archive.configuration(), named: archive.name)
        {
            throw CommandFailure(reason, status: .usage)
        }
        if let exportTrace { try export(archive, to: exportTrace) }
        var advisor = CacheAdvisor(limits: try chosenLimits(), findsOptimum: policies.contains(.opt))
        guard let advice = try advisor.advice(on: archive) else {
            throw CommandFailure(
                "\(archive.name) has no recorded requests; they are recorded while a process has it open for writing",
                status: .nothing)
        }
        try Interruption.check()
        let output = OutputWriter()
        if json {
            try JSONTree(advice, of: archive.name, policies).writeLine(to: output)
        } else {
            try AdviceText(advice, of: archive, store.named ?? StoreArguments.onlyStore, policies).write(
                to: output)
        }
        try output.flush()
    }

    private func export(_ archive: Archive, to path: String) throws {
        guard let samples = try archive.requestSamples() else { return }
        let whole = try WholeFile.toWrite(path, force: replacement.force)
        defer { whole?.discard() }
        let output = whole?.output ?? OutputWriter()
        let reads = try TraceFile.write(samples, to: output)
        try output.flush()
        try whole?.finish()
        Console.say("wrote \(Figures.count(reads, "read", "reads")) to \(path)")
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

    /// The limits of `--limits`; nil without the option.
    private func chosenLimits() throws -> [Int]? {
        try limits?.split(separator: ",", omittingEmptySubsequences: false).reduce(into: []) { chosen, text in
            let shown = TerminalSafe.quoted(String(text))
            let bytes = SizeText.bytes(text)
            if limitUnit == .entries, bytes != nil, UInt64(text) == nil {
                throw ValidationError(
                    "the limit \(shown) is a size; pass --unit bytes or a number of entries")
            }
            guard let limit = bytes.flatMap(Int.init(exactly:)), limit > 0 else {
                let form =
                    limitUnit == .bytes
                    ? "sizes above 0 such as 20MB,1GB" : "numbers above 0 such as 500,2000"
                throw ValidationError("invalid limit \(shown); --limits takes \(form)")
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
            ("points", .points(points)),
        ])
    }
}

extension LimitUnit: ExpressibleByArgument {}
