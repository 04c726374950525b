import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

/// The figures that graphs show and alarms watch.
enum Metric: String, CaseIterable, Sendable, Hashable {
    case hitRatio = "hit ratio"
    case operations, disk, memory, evictions, expiries

    var title: String { rawValue }

    /// A server has no disk tier.
    static func shown(_ model: Model) -> [Metric] { allCases.filter { $0 != .disk || !model.isOfServer } }

    var role: Role {
        switch self {
        case .hitRatio: .good
        case .evictions, .expiries: .warning
        default: .accent
        }
    }

    var isBytes: Bool { self == .disk || self == .memory }

    func value(_ column: GraphColumn) -> Double? {
        switch self {
        case .hitRatio: column.hitRatio
        case .operations: column.operations
        case .disk: column.disk
        case .memory: column.memory
        case .evictions: column.evictions
        case .expiries: column.expiries
        }
    }

    func text(_ value: Double) -> String {
        switch self {
        case .hitRatio: Figures.percent(value)
        case .disk, .memory: Figures.bytes(UInt64(exactly: value.rounded()) ?? .max)
        default: Figures.rate(value) + "/s"
        }
    }

    /// How the values of `step` seconds are combined: `10s mean`.
    func statistic(_ step: Int64) -> String {
        "\(Figures.duration(Double(step))) \(isBytes ? "max" : "mean")"
    }

    /// The seconds over which the current figure is averaged: ` (2s mean)`; empty for bytes.
    var window: String { isBytes ? "" : " (\(Figures.duration(ArchiveHistory.window)) mean)" }

    /// Without a title. The scale includes the current figure.
    func graph(
        _ columns: [GraphColumn?], _ times: GraphsView.Times, limit: UInt64?, now: Double?, _ look: Look
    ) -> TimeGraph {
        let values = columns.map { $0.flatMap(value) }
        let top = top(values + [now], limit: limit)
        var graph = TimeGraph(title: [], values: values, maximum: top, topLabel: text(top), role: role)
        graph.middleLabel = text(top / 2)
        graph.ticks = times.ticks
        return graph
    }

    /// The top of the scale: the limit, or the next round number.
    func top(_ values: [Double?], limit: UInt64?) -> Double {
        if self == .hitRatio { return 1 }
        let most = values.reduce(0) { max($0, $1 ?? 0) }
        if let limit { return max(Double(limit), most) }
        guard most > 0 else { return 1 }
        var scale = 1.0
        while scale * 10 <= most { scale *= 10 }
        while scale > most { scale /= 10 }
        return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map { $0 * scale }.first { $0 >= most } ?? most
    }

    func limit(of archives: [ArchiveSample]) -> UInt64? {
        let limits = archives.compactMap { self == .disk ? $0.diskLimit : $0.memoryLimit }
        guard isBytes, !limits.isEmpty, limits.count == archives.count else { return nil }
        return limits.reduce(0) { sum, limit in sum + min(limit, .max - sum) }
    }

    /// The current figure of all these archives; nil until two refreshes were seen.
    func now(of archives: [ArchiveSample], _ histories: [ExactText: ArchiveHistory]) -> Double? {
        var sum: GraphColumn?
        for sample in archives {
            guard let rates = histories[ExactText(sample.name)]?.now else { continue }
            sum =
                (sum ?? GraphColumn())
                + GraphColumn(rates, disk: sample.diskBytes, memory: sample.memoryBytes)
        }
        return sum.flatMap(value)
    }

    /// The archives of the graphs, and their histories.
    static func subjects(
        _ model: Model, _ monitor: MonitorState
    ) -> (archives: [ArchiveSample], histories: [ArchiveHistory]) {
        let archives = archives(of: monitor.filter.archive, in: model.archives.counted)
        return (archives, archives.compactMap { model.archives.shownHistories[ExactText($0.name)] })
    }

    /// The readable archives of that name or, without one, all but logs.
    static func archives(of name: String?, in all: [ArchiveSample]) -> [ArchiveSample] {
        all.filter { sample in
            guard let name else { return sample.problem == nil && sample.kind != .log }
            return sample.problem == nil && ExactText(sample.name) == ExactText(name)
        }
    }
}

struct Alarm: Sendable, Hashable {
    let archive: String?
    let metric: Metric
    let isBelow: Bool
    let bound: Double
    /// The threshold as typed: `< 80%`.
    let condition: String
    /// When the figure crossed the threshold.
    private(set) var since: Timestamp?
    private(set) var isRinging = false

    /// Seconds until it rings, so that single accesses cause no alarm.
    fileprivate static let delay = 2.0

    /// Reads `< 80%`, `> 500 kB`, `> 1000`.
    init(_ text: String, _ metric: Metric, of archive: String?) throws(SourceError) {
        (self.archive, self.metric) = (archive, metric)
        var rest = text.drop { $0 == " " }
        // Without a sign, the example's sign applies.
        if let first = rest.first, first != "<", first != ">" {
            rest = Alarm.example(metric).prefix(1) + rest
        }
        guard let sign = rest.popFirst(), sign == "<" || sign == ">" else {
            throw SourceError("begin with < or >, as in \(Alarm.example(metric))")
        }
        isBelow = sign == "<"
        let number = rest.filter { $0 != " " }
        guard !number.isEmpty else {
            throw SourceError("\(sign) needs a threshold, as in \(Alarm.example(metric))")
        }
        let value: Double? =
            switch metric {
            case .hitRatio: Double(number.last == "%" ? number.dropLast() : number[...]).map { $0 / 100 }
            case .disk, .memory: SizeText.bytes(number).map { Double($0) }
            default: Double(number.hasSuffix("/s") ? number.dropLast(2) : number[...])
            }
        guard let value, value.isFinite, value >= 0, metric != .hitRatio || value <= 1 else {
            throw SourceError("\(rest.trimmingSpaces()) is not a threshold; write \(Alarm.example(metric))")
        }
        guard !isBelow || value > 0, isBelow || metric != .hitRatio || value < 1 else {
            throw SourceError("it is never \(isBelow ? "below" : "above") \(number)")
        }
        bound = value
        let unit =
            number.last?.isNumber != true ? "" : metric == .hitRatio ? "%" : metric.isBytes ? " B" : "/s"
        condition = "\(sign) \(number)\(unit)"
    }

    static func example(_ metric: Metric) -> String {
        switch metric {
        case .hitRatio: "< 80%"
        case .disk, .memory: "> 500 kB"
        case .operations: "> 1000/s"
        case .evictions, .expiries: "> 50/s"
        }
    }

    func watches(_ metric: Metric, of archive: String?) -> Bool {
        self.metric == metric && self.archive.map(ExactText.init) == archive.map(ExactText.init)
    }

    /// `City hit ratio`
    func subject(_ model: Model) -> String {
        archive.map { "\($0) \(metric.title)" }
            ?? "\(metric.title) of \(Alarm.owner(archive, model.isOfServer))"
    }

    /// `below 80%`
    var words: String { (isBelow ? "below" : "above") + condition.dropFirst() }

    static func owner(_ archive: String?, _ isOfServer: Bool) -> String {
        archive ?? (isOfServer ? "the server" : "all archives")
    }

    /// `ends` has the duration of the alarm in seconds.
    enum Change { case rings, ends(Double) }

    mutating func end(at now: Timestamp) -> Change? {
        defer { (since, isRinging) = (nil, false) }
        return isRinging ? .ends(since.map { max(0, now.seconds(since: $0)) } ?? 0) : nil
    }

    mutating func take(_ value: Double?, at now: Timestamp) -> Change? {
        guard let value else { return nil }
        guard isBelow ? value < bound : value > bound else { return end(at: now) }
        // A clock may be set back.
        let start = min(since ?? now, now)
        since = start
        guard !isRinging, now.seconds(since: start) >= Alarm.delay else { return nil }
        isRinging = true
        return .rings
    }
}

extension Browser {
    static func watchAlarms(_ model: inout Model, _ figures: StoreFigures, at moment: Timestamp) -> [Effect] {
        var ringing: [String] = []
        var over: [String] = []
        for index in model.archives.alarms.indices {
            let alarm = model.archives.alarms[index]
            let archives = Metric.archives(of: alarm.archive, in: figures.counted)
            let value = alarm.metric.now(of: archives, model.archives.histories)
            // An unreadable archive still exists.
            let exists = figures.archives.contains { sample in
                alarm.archive.map { ExactText($0) == ExactText(sample.name) } ?? true
            }
            let change =
                exists
                ? model.archives.alarms[index].take(value, at: moment)
                : model.archives.alarms[index].end(at: moment)
            switch change {
            case .rings?:
                let text = value.map(alarm.metric.text) ?? ""
                ringing.append("\(alarm.subject(model)) \(text)\(alarm.metric.window), \(alarm.words)")
            case .ends(let seconds)?:
                let removed = exists ? "" : "; the archive was removed"
                over.append(
                    "\(alarm.subject(model)) was \(alarm.words) for \(Figures.duration(seconds))\(removed)"
                )
            case nil: break
            }
        }
        let ends = over.isEmpty ? nil : "Alarm ended: \(over.joined(separator: ", "))."
        guard !ringing.isEmpty else {
            if let ends { model.say(ends, role: .good, seconds: 10) }
            return []
        }
        let rings = "ALARM: \(ringing.joined(separator: ", "))"
        model.say([rings, ends].compactMap { $0 }.joined(separator: "  "), role: .error, seconds: 30)
        return [.send([7])]
    }

    static func askAlarm(_ model: inout Model) {
        guard let monitor = model.monitor else { return }
        let metric = monitor.metric
        let archive = monitor.filter.archive
        let old = model.archives.alarms.first { $0.watches(metric, of: archive) }
        var prompt = Prompt(
            label: "alarm when \(metric.title) is: ",
            field: TextField(old?.condition ?? "", placeholder: Alarm.example(metric)),
            keys: [("enter", "Set (empty removes it)"), ("esc", "Cancel")])
        let unit =
            metric == .hitRatio ? "in %" : metric.isBytes ? "in B unless kB or MB follows" : "per second"
        prompt.note = " of \(Alarm.owner(archive, model.isOfServer)), \(unit)\(metric.window)"
        prompt.purpose = .alarm(metric, archive)
        model.prompt = prompt
    }

    static func setAlarm(
        _ model: inout Model, _ prompt: Prompt, _ metric: Metric, of archive: String?
    ) -> [Effect] {
        let text = prompt.field.text
        let others = model.archives.alarms.filter { !$0.watches(metric, of: archive) }
        guard !text.allSatisfy({ $0 == " " }) else {
            if others.count < model.archives.alarms.count { model.say("Alarm removed.") }
            model.archives.alarms = others
            return []
        }
        do throws(SourceError) {
            let alarm = try Alarm(text, metric, of: archive)
            model.archives.alarms = others + [alarm]
            model.say(
                "The bell rings when \(alarm.subject(model)) is \(alarm.words) for \(Figures.duration(Alarm.delay))."
            )
        } catch {
            let old = model.archives.alarms.first { $0.watches(metric, of: archive) }
            let rest = old.map { "; \($0.condition) stays" } ?? ""
            model.prompt = prompt
            model.prompt?.said = "No alarm was set: \(error.description)\(rest)"
        }
        return []
    }
}
