import StorageEngine
import StoreInspection
import TerminalKit

extension ArchiveChange {
    func dialog(
        _ sample: ArchiveSample, _ evictions: Evictions
    ) -> (words: (title: String, button: String), body: [String]) {
        let name = TerminalText.sanitized(sample.name)
        switch self {
        case .resize(let disk, let memory, let policy):
            let limits = [("disk", sample.diskLimit, disk), ("memory", sample.memoryLimit, memory)].map {
                tier in
                let (old, new) = (tier.1.map(Figures.bytes) ?? "none", tier.2.map(Figures.bytes) ?? "none")
                return "\(tier.0) limit: \(old)" + (tier.1 == tier.2 ? ", unchanged" : " -> \(new)")
            }
            let (old, isOther) = (sample.evictionPolicy, policy != sample.evictionPolicy)
            let policies = isOther ? "policy: \(old) -> \(policy)" : nil
            let growth =
                disk == nil && sample.diskLimit != nil
                ? "Without a disk limit it evicts nothing and grows until the disk is full." : nil
            return (
                ("Resize \(name)?", "Resize"),
                limits + [policies, evictions.words(sample), growth].compactMap { $0 }
            )
        case .rename(let new):
            return (
                ("Rename \(name)?", "Rename"),
                [
                    "Copies \(sample.amount) to \(TerminalText.sanitized(new)), then removes \(name).",
                    "Its events, undo records and recorded requests are lost.",
                ]
            )
        case .compact:
            let effect =
                sample.reclaimableBytes == 0
                ? "Nothing to release."
                : "Releases about \(Figures.bytes(sample.reclaimableBytes)) of deleted and overwritten entries. "
                    + "Undo still works."
            let size = "\(Figures.bytes(sample.footprint)) for \(Figures.bytes(sample.diskBytes)) of values"
            return (("Compact \(name)?", "Compact"), ["File size: \(size). \(effect)"])
        case .clear:
            return (
                ("Delete all messages?", "Delete"),
                [
                    "\(sample.amount), of \(name), and any that arrive before you confirm. "
                        + "This can't be undone."
                ]
            )
        case .drop:
            return (
                ("Drop \(name)?", "Drop"),
                ["Deletes \(sample.amount). This can't be undone."]
            )
        }
    }
}

/// The entries that a lower disk limit evicts.
struct Evictions: Sendable, Hashable {
    private(set) var entries = 0
    private(set) var bytes: UInt64 = 0
    /// Seconds since the last access of the first entry to evict.
    private(set) var idle: Double?
    /// Whether S3-FIFO selects them.
    private(set) var hasQueues = false

    init() {}

    /// Takes the next evicted entries until `excess` bytes are reached. Nil if `progress` stops it.
    init?(_ listing: any EntryListing, _ excess: UInt64, at now: Timestamp, _ progress: (Double) -> Bool) {
        hasQueues = listing.evictionOrder != nil
        let order = listing.evictionOrder.map { Positions.some($0.indices) } ?? .reversed(listing.count)
        if order.count > 0 { idle = max(0, now.seconds(since: listing.accessed(at: order.index(atRow: 0)))) }
        while bytes < excess, entries < order.count {
            bytes += listing.figures(at: order.index(atRow: entries)).size
            entries += 1
            if entries % 4096 == 0, !progress(Double(bytes) / Double(excess)) { return nil }
        }
    }

    /// Estimates the number of messages in a log from their mean size.
    init(ofLog log: ArchiveSample, _ excess: UInt64) {
        bytes = excess
        entries = Int((Double(log.entries) * Double(excess) / Double(max(1, log.diskBytes))).rounded(.up))
    }

    /// Nil if nothing is evicted.
    fileprivate func words(_ sample: ArchiveSample) -> String? {
        guard entries > 0 else { return nil }
        if sample.kind == .log {
            return
                "About \(Figures.count(entries, "message", "messages")), \(Figures.bytes(bytes)), are deleted, "
                + "oldest first. This can't be undone."
        }
        let age = idle.map { "; the first was used \(Figures.duration($0)) ago" } ?? ""
        let order = hasQueues ? "in the order of S3-FIFO" : "least recently used first"
        return
            "About \(Figures.amount(entries, bytes: bytes)), are evicted, \(order)\(age). This can't be undone."
    }
}

extension ArchivesScreen {
    /// Starts a change of an archive: asks for limits or a name, or opens the plan.
    /// - Parameters:
    ///   - limit: the proposed limit in bytes, and the reason; nil: the present limit, or the least one for a cache that is too
    ///     small.
    ///   - policy: the proposed policy; nil: the present one.
    static func ask(
        _ id: ActionID, of archive: ArchiveAddress, proposing limit: (bytes: UInt64, reason: String)? = nil,
        policy: EvictionPolicy? = nil, _ model: inout Model
    ) {
        guard let sample = model.sample(archive) else { return }
        let name = TerminalText.sanitized(sample.name)
        if let problem = sample.problem {
            return model.say("\(name) can't be read: \(problem)", role: .error)
        }
        let others = sample.runningProcesses.filter { $0.pid != model.archives.figures?.ownPid }
        if id == .dropArchive || id == .renameArchive, let other = others.first {
            return model.say("\(name) is open in \(other.name) (\(other.pid)). End it first.", role: .warning)
        }
        var prompt = Prompt(label: "", field: TextField(), keys: [("enter", "Continue"), ("esc", "Cancel")])
        switch id {
        case .resizeArchive, .resizeToMarked:
            prompt.label = "limits of \(name): "
            var wanted = sample
            if let policy { wanted.evictionPolicy = policy }
            let needed = model.returns(in: sample.name).neededLimit(of: sample)
                .map { (bytes: $0, reason: "estimated minimum") }
            if let proposed = limit ?? needed {
                let isOfMemory = sample.kind == .collection
                let now = isOfMemory ? sample.memoryLimit : sample.diskLimit
                prompt.note = "  \(proposed.reason); now \(now.map(Figures.bytes) ?? "none")"
                if isOfMemory {
                    wanted.memoryLimit = proposed.bytes
                } else {
                    wanted.diskLimit = proposed.bytes
                }
            }
            prompt.field = TextField(ArchiveChange.text(wanted))
        case .renameArchive: prompt.label = "new name of \(name): "
        default:
            let change = id == .dropArchive ? ArchiveChange.drop : .compact
            model.overlay = Plan(change, of: sample, at: archive)
            return
        }
        prompt.purpose = .archive(id, archive)
        model.prompt = prompt
    }

    static func ended(
        _ model: inout Model, _ prompt: Prompt, _ id: ActionID, _ archive: ArchiveAddress
    ) -> [Effect] {
        guard let sample = model.sample(archive), !model.isReadOnly else { return [] }
        let text = prompt.field.text
        func refuse(_ reason: String) -> [Effect] {
            model.prompt = prompt
            model.prompt?.said = reason
            return []
        }
        if id == .renameArchive {
            guard !text.isEmpty else { return refuse("enter a name") }
            guard model.archives.summary(text) == nil else { return refuse("the name is in use") }
            model.overlay = Plan(.rename(text), of: sample, at: archive)
            return []
        }
        do throws(SourceError) {
            let change = try ArchiveChange(limits: text, of: sample)
            if change == .present(sample) {
                return model.reply("Limits and policy are unchanged.")
            }
            return planResize(change, sample, archive, &model)
        } catch {
            return refuse(error.description)
        }
    }

    /// Plans to restore the limits before the last resize by this browser. Nil if there was no resize after `time`.
    static func planUndo(
        in archive: ArchiveAddress, since time: Timestamp?, _ model: inout Model
    ) -> [Effect]? {
        guard let (former, at) = model.archives.resized[archive], at > time ?? at.adding(seconds: -1),
            let sample = model.sample(archive), sample.identity == former.identity
        else { return nil }
        let change = ArchiveChange.present(former)
        guard change != .present(sample) else { return nil }
        return planResize(change, sample, archive, &model)
    }

    private static func planResize(
        _ change: ArchiveChange, _ sample: ArchiveSample, _ archive: ArchiveAddress, _ model: inout Model
    ) -> [Effect] {
        let excess = change.excess(of: sample)
        guard excess > 0 else {
            model.overlay = Plan(change, of: sample, at: archive)
            return []
        }
        let ticket = model.begin("counting evictions", aim: .dialog)
        return .ask("count evictions of \(archive.name)", ticket: ticket) {
            (context) throws(SourceError) -> Evictions? in
            if sample.kind == .log { return Evictions(ofLog: sample, excess) }
            return Evictions(
                try context.source.listing(in: archive), excess, at: context.clock(), context.progress)
        } done: { model, result in
            guard model.ends(ticket), model.overlay == nil, model.prompt == nil,
                model.archiveInView == archive, case let evictions?? = model.take(result)
            else { return }
            model.overlay = Plan(change, of: sample, at: archive, evicting: evictions)
        }
    }

    static func carryOut(
        _ change: ArchiveChange, _ sample: ArchiveSample, _ archive: ArchiveAddress, _ ticket: Int
    ) -> Effect {
        .ask("\(change) of \(archive.name)", ticket: ticket) { (context) throws(SourceError) in
            try context.source.change(archive, change, seen: sample, progress: context.progress)
        } then: { model, result in
            model.ends(ticket)
            switch result {
            case .success(let carried):
                model.cost.note(
                    writes: change == .drop ? max(1, sample.entries) : 1, longestCall: carried.longestCall)
                var words = carried.outcome
                let former = model.archives.resized[archive]?.former
                if let former, change == .present(former) {
                    // The next undo reverts an earlier change.
                    model.archives.resized[archive] = nil
                } else if case .resize = change {
                    model.archives.resized[archive] = (sample, model.now)
                    let key = Browser.keyName(model, .undo)
                    words += model.isInBackground ? "" : " \(key) restores \(ArchiveChange.text(sample))."
                }
                model.say(words, role: .good, seconds: 10)
                if case .rename(let new) = change { model.archives.renamed(archive.name, to: new) }
                if change == .clear, model.log?.archive == archive { model.log?.forget() }
            case .failure(let error): model.overlay = MessageBox("Nothing was changed", [error.description])
            }
            return Browser.refresh(&model, isForced: true)
        }
    }
}
