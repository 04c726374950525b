/// The failures that an archive's content survives. Possible losses of each level: <doc:WhatSurvives>.
public enum Durability: Sendable, Hashable {
    /// Stored entries survive a crash of the process as soon as the call returns. A system crash or a power loss may
    /// lose those of the last half minute or so. Costs nothing.
    case process
    /// Like `process`, and a background thread syncs everything to the medium at this interval, 0.1 to 6,553 seconds
    /// (kept in tenths of a second). A power loss loses at most the changes since the last sync.
    case interval(seconds: Double)
    /// Every change is on the medium when its call returns. Concurrent callers share one sync.
    case full
}

extension Durability {
    enum Level: UInt32 {
        case process = 0
        case interval = 1
        case full = 2
    }

    var level: Level {
        switch self {
        case .process: .process
        case .interval: .interval
        case .full: .full
        }
    }

    static let mostTenths: UInt16 = 65_530

    /// The interval in tenths of a second; 0 for levels without one.
    var tenths: UInt16 {
        guard case .interval(let seconds) = self, seconds > 0 else { return 0 }
        return UInt16(min((seconds * 10).rounded(), Double(Durability.mostTenths)))
    }

    init?(level: UInt32, tenths: UInt16) {
        switch Level(rawValue: level) {
        case .process: self = .process
        case .interval: self = .interval(seconds: Double(max(tenths, 1)) / 10)
        case .full: self = .full
        case nil: return nil
        }
    }

    func validate() throws(StorageError) {
        guard case .interval(let seconds) = self else { return }
        guard seconds >= 0.1, seconds <= 6553 else {
            throw .invalidConfiguration(reason: "syncing every \(seconds) seconds; use 0.1 to 6,553")
        }
    }
}
