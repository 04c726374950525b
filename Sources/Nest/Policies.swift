import Foundation

/// The time for which an item stays in memory after it is added or read from disk.
public enum ExpirationPolicy: RawRepresentable, Sendable, Hashable {
    /// 60 seconds by default (``Nest/Nest/expirationIntervals``).
    case short
    /// 300 seconds by default.
    case medium
    /// 600 seconds by default.
    case long
    /// 900 seconds by default.
    case max
    /// Until the item is removed.
    case never
    /// This many seconds. With zero, a negative number or NaN the item expires at once.
    case custom(TimeInterval)

    /// Reads `short`, `medium`, `long`, `max`, `never`, or `custom:` followed by seconds; nil for any other text.
    public init?(rawValue: String) {
        let named: [ExpirationPolicy] = [.short, .medium, .long, .max, .never]
        if let policy = named.first(where: { $0.rawValue == rawValue }) {
            self = policy
            return
        }
        guard rawValue.hasPrefix("custom:"), let seconds = TimeInterval(rawValue.dropFirst(7)), !seconds.isNaN
        else { return nil }
        self = .custom(seconds)
    }

    /// The text that ``init(rawValue:)`` reads.
    public var rawValue: String {
        switch self {
        case .short: "short"
        case .medium: "medium"
        case .long: "long"
        case .max: "max"
        case .never: "never"
        case .custom(let seconds): "custom:\(seconds)"
        }
    }

    /// The default interval in seconds; infinite for `never`.
    public var interval: TimeInterval { ExpirationIntervals()[self] }
}

/// The time for which an item stays on disk after it is added. Reading it doesn't restart the time.
public enum PersistancePolicy: String, Sendable, Hashable {
    /// The item isn't stored on disk.
    case disabled
    /// The same time as in memory.
    case mirror
    /// One day, unless the nest has other intervals.
    case short
    /// Three days by default.
    case medium
    /// Ten days by default.
    case long

    /// The default interval in seconds; 0 for `disabled` and `mirror`.
    public var interval: TimeInterval { PersistanceIntervals()[self] ?? 0 }
}

/// The intervals of a nest's expiration policies, in seconds.
public struct ExpirationIntervals: Sendable, Hashable {
    /// Seconds of ``ExpirationPolicy/short``.
    public var short: TimeInterval = 60
    /// Seconds of ``ExpirationPolicy/medium``.
    public var medium: TimeInterval = 300
    /// Seconds of ``ExpirationPolicy/long``.
    public var long: TimeInterval = 600
    /// Seconds of ``ExpirationPolicy/max``.
    public var max: TimeInterval = 900

    /// The default intervals: 60, 300, 600 and 900 seconds.
    public init() {}

    /// The seconds of a policy; infinite for `never`.
    public subscript(policy: ExpirationPolicy) -> TimeInterval {
        switch policy {
        case .short: short
        case .medium: medium
        case .long: long
        case .max: max
        case .never: .infinity
        case .custom(let seconds): seconds
        }
    }
}

/// The intervals of a nest's persistance policies, in seconds.
public struct PersistanceIntervals: Sendable, Hashable {
    /// Seconds of ``PersistancePolicy/short``.
    public var short: TimeInterval = 86_400
    /// Seconds of ``PersistancePolicy/medium``.
    public var medium: TimeInterval = 3 * 86_400
    /// Seconds of ``PersistancePolicy/long``.
    public var long: TimeInterval = 10 * 86_400

    /// The default intervals: one, three and ten days.
    public init() {}

    /// The seconds of a policy; `nil` for `disabled` and `mirror`, which have no interval.
    public subscript(policy: PersistancePolicy) -> TimeInterval? {
        switch policy {
        case .disabled, .mirror: nil
        case .short: short
        case .medium: medium
        case .long: long
        }
    }
}
