/// What a ``PapyrusStore`` logs: all that is at least as urgent.
public enum LogLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Also what it has saved, deleted and merged.
    case info
    /// The same.
    case debug
    /// What a call that doesn't throw couldn't do or left out.
    case error
    /// What nothing can be done in spite of: the store can't be opened.
    case fault
    /// Nothing.
    case off

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
