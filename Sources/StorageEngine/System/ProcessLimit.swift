import CPlatform

/// What the system lets this process have, in bytes; `nil` where there is no limit. Asked anew each time, because a
/// process may change its own.
enum ProcessLimit {
    /// Addresses, `ulimit -v`.
    static var addresses: UInt64? { known(cp_limit_addresses()) }
    /// The length of a file that it may write, `ulimit -f`.
    static var fileBytes: UInt64? { known(cp_limit_file_bytes()) }

    private static func known(_ limit: UInt64) -> UInt64? { limit == .max ? nil : limit }
}
