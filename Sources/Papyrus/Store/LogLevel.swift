/// The least severe messages that a ``PapyrusStore`` logs.
public enum LogLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Everything, including each save, delete and merge.
    case info
    /// Like ``info``.
    case debug
    /// Failures and omissions of calls that don't throw.
    case error
    /// Only failures that prevent everything: the store can't be opened.
    case fault
    /// Nothing.
    case off

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
