/// One step of a simulation: a request of a sampled key, by the key's number. An expiry is a removal.
struct Step {
    enum Action: UInt8 {
        /// Counts as a hit or a miss. A miss adds the key.
        case read
        /// Counts as a hit or a miss. A miss adds nothing.
        case lookup
        /// Like a read, but counts as neither a hit nor a miss.
        case write
        /// Adds a value that the recorded cache stored before the recording began.
        case prior
        /// Stores the value after a miss of the same key. Not an access.
        case update
        case remove
    }

    /// Size of the value in the unit of the limits; 0 if unknown.
    var size: Int
    var key: UInt32
    var group: UInt16
    var action: Action

    var isCounted: Bool { action == .read || action == .lookup }
}
