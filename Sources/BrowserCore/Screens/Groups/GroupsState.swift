import StorageEngine
import StoreInspection

struct GroupsState: Sendable {
    let archive: ArchiveAddress
    /// The opened levels; the last is shown.
    var levels: [Level] = [Level()]
    var column = GroupColumn.bytes
    var isDescending = true
    var ticket: Int?
    var problem: String?
    var scope = Scope()
    /// The list of entries from which the groups were opened, and the groups (at most one) from which that list was opened.
    var before: EntriesState?
    var outer: [GroupsState] = []

    struct Scope: Sendable {
        var filter = ""
        var condition: EntryCondition?
        var group: GroupMembership?

        init() {}

        init(_ entries: EntriesState) {
            (filter, condition, group) = (entries.filter, entries.condition, entries.group)
        }

        var isAll: Bool { filter.isEmpty && condition == nil && group == nil }

        /// `of Jakarta  where population > 1000`; nil for all entries.
        var words: String? {
            let parts = [
                group.map { "of \($0.description)" }, condition.map { "where \($0.text)" },
                filter.isEmpty ? nil : "filter \"\(filter)\"",
            ]
            return isAll ? nil : parts.compactMap { $0 }.joined(separator: "  ")
        }
    }

    struct Level: Sendable {
        var below = ""
        /// The chosen grouping; nil: by the most frequent separator.
        var wanted: Grouping?
        var groups: EntryGroups?
        var filter = ""
        var order: [Int] = []
        /// Width of the widest name. Only grows, so that columns don't jump.
        var nameColumns = 12
        var made: Timestamp?
        /// Number of this browser's writes when the groups were requested.
        var writes = 0
        var limit: UInt64?
        var cursor = 0
        var top = 0

        var number: Int? { order.indices.contains(cursor) ? order[cursor] : nil }
        var group: EntryGroup? { number.flatMap { groups?.groups[$0] } }
    }

    var level: Level {
        get { levels[levels.count - 1] }
        set { levels[levels.count - 1] = newValue }
    }

    /// Filters and sorts the groups and keeps the selected one.
    mutating func sort() {
        guard let groups = level.groups else { return }
        let held = level.group?.membership
        let pattern = SearchText(level.filter)
        level.order = groups.sorted(by: column, descending: isDescending).filter {
            pattern?.matches(groups.groups[$0].name) ?? true
        }
        level.cursor = level.order.firstIndex { groups.groups[$0].membership == held } ?? 0
    }
}
