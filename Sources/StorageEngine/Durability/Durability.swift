/// What of an archive survives what. Exactly what each level loses: <doc:Durability>.
public enum Durability: Sendable, Hashable {
    /// What a call stored survives the death of the process as soon as the call returns. A crash of the system or
    /// a power loss may cost what was stored in the last half minute or so. Costs nothing.
    case process
    /// As `process`, and in the background everything is brought to the medium every so many seconds,
    /// 0.1 to 6,553 (kept in tenths of a second): a power loss costs at most what was stored since.
    case interval(seconds: Double)
    /// Every change is on the medium when its call returns. Callers at the same time share one sync.
    case full
}

extension Durability {
    /// As files and the index keep it.
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

    /// Tenths of a second; 0 for levels without an interval.
    var tenths: UInt16 {
        guard case .interval(let seconds) = self, seconds > 0 else { return 0 }
        return UInt16(min((seconds * 10).rounded(), Double(Durability.mostTenths)))
    }

    /// `nil` when there is no such level.
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
            throw .invalidConfiguration(
                reason: "syncing every \(seconds) seconds; use 0.1 to 6,553")
        }
    }
}
