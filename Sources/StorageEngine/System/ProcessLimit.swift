import CPlatform

/// What the system lets this process have; `nil` where there is no limit. Asked anew each time, because a
/// process may change its own.
enum ProcessLimit {
    /// Bytes of addresses, `ulimit -v`.
    static var addresses: UInt64? { known(cp_limit_addresses()) }
    /// The length in bytes of a file that it may write, `ulimit -f`.
    static var fileBytes: UInt64? { known(cp_limit_file_bytes()) }
    /// Files that it may have open, `ulimit -n`.
    static var openFiles: UInt64? { known(cp_limit_open_files()) }

    /// How many archives may stay open only to be looked at now and then, two descriptors and an index of some hundred
    /// kilobytes each: what takes a quarter of what this process may have, so that the rest finds room beside them.
    static var comfortableArchives: Int {
        let byFiles = (openFiles ?? .max) / 8
        let byAddresses = (addresses ?? .max) / (4 << 20)
        return Int(clamping: min(byFiles, byAddresses, 4096))
    }

    private static func known(_ limit: UInt64) -> UInt64? { limit == .max ? nil : limit }
}
