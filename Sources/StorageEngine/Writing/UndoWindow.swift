/// The period in which a reversible action (S12) can be undone: until a time, a number of written bytes, or a budget is exceeded.
struct UndoWindow: ArchiveOperation {
    let engine: ArchiveEngine

    /// Whether an undo needs this segment: an action's former expiry times, which are never copied, begin in it or before.
    func isNeededToUndo(_ segment: UInt32) -> Bool {
        index.undo.lines.contains { line in
            line.isOfDeadlines && line.first.segment <= segment && isReversible(line)
        }
    }

    /// The action whose new expiry time an entry has; 0: none.
    func action(
        expiring number: UInt32, among actions: [Int64: (group: UInt32, sequence: UInt64)]
    ) throws(StorageError) -> UInt32 {
        guard let slot = index.entry(number), let action = actions[slot.deadline],
            let sequence = try engine.withFrameIfPresent(at: slot.location, { $0.sequence }),
            sequence < action.sequence
        else { return 0 }
        return action.group
    }

    /// The expiry times that reversible actions have set. An older entry with such a time belongs to the action.
    func deadlinesOfActions() throws(StorageError) -> [Int64: (group: UInt32, sequence: UInt64)] {
        var groups: [Int64: (group: UInt32, sequence: UInt64)] = [:]
        for line in index.undo.lines where line.isOfDeadlines && isReversible(line) {
            let found = try engine.withFrameIfPresent(at: line.first) {
                ($0.deadline(.deadline), $0.sequence)
            }
            guard let (deadline, sequence) = found, deadline != Deadline.never else { continue }
            groups[deadline] = (line.group, sequence)
        }
        return groups
    }

    /// Whether an action can still be undone. Former expiry times are only in the log.
    func isReversible<Right>(_ line: UndoLine<Right>) -> Bool {
        line.group != 0 && (line.state == .reversible || line.state == .returning) && Clock.boot() < line.end
            && (line.endBytes == .max || index.appendedBytes < line.endBytes)
            && (!line.isOfDeadlines || line.first.segment >= index.oldestSegment)
    }

    static let microseconds: Int64 = 600_000_000
    static let tombstoneSlotBytes: UInt64 = 128

    /// The undo budget in addition to the limit: a whole archive's values, unless keys and overhead need far more space.
    var undoLimits: UndoCost {
        let limit = min(limit, ArchiveConfiguration.maximumDiskLimit)
        return UndoCost(values: max(4 << 20, limit), space: max(64 << 20, limit / 8))
    }

    /// A collection has no limit: the bytes of its values, tombstoned ones included, serve as one.
    private var limit: UInt64 {
        engine.diskLimit ?? index.undo.lines.reduce(index.valueBytes) { $0 &+ $1.pendingBytes }
    }

    var undoCost: UndoCost {
        index.undo.lines.filter { isReversible($0) && $0.endBytes == .max }.reduce(UndoCost()) { $0.with($1) }
    }

    var undoBudget: UndoBudget {
        let limits = undoLimits
        let used = undoCost
        return UndoBudget(
            values: limits.values, space: limits.space,
            valuesLeft: limits.values - min(limits.values, used.values),
            spaceLeft: limits.space - min(limits.space, used.space), exceededBytes: exceededBytes)
    }

    /// Bytes that may be written until an action beyond the budget can't be undone.
    var exceededBytes: UInt64 { max(64 << 10, limit / 20) }

    /// Bytes that may be written until a change of expiry times can't be undone: it keeps the log from its first frame on.
    var deadlineBytes: UInt64 { min(undoLimits.values, undoLimits.space) }
}

/// Bytes of tombstoned values, and bytes that their entries use on disk and in the index.
struct UndoCost {
    var values: UInt64 = 0
    var space: UInt64 = 0

    func with<Right>(_ line: UndoLine<Right>) -> UndoCost {
        UndoCost(
            values: values &+ line.pendingBytes,
            space: space &+ line.frameBytes &+ UndoWindow.tombstoneSlotBytes &* line.marked)
    }

    func fits(_ limits: UndoCost) -> Bool { values <= limits.values && space <= limits.space }
}
