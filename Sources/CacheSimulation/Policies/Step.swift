/// What a policy sees of a request: expiry, sampling and the names of keys are resolved.
struct Step {
    enum Action: UInt8 {
        /// Counts, and adds the key if it isn't cached.
        case read
        /// Like a read, but doesn't count.
        case write
        /// Stores the value of the read before; no further access.
        case update
        case remove
    }

    /// In the unit of the limits; 0 if unknown.
    var size: Int
    var key: UInt32
    var group: UInt16
    var action: Action
}
