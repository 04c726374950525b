import CPlatform

/// Limits of this process; `nil`: no limit. Read each time, because a process may change its limits.
enum ProcessLimit {
    /// Bytes of address space, `ulimit -v`.
    static var addresses: UInt64? { known(cp_limit_addresses()) }
    /// Largest size in bytes of a file that the process may write, `ulimit -f`.
    static var fileBytes: UInt64? { known(cp_limit_file_bytes()) }
    /// Number of files that the process may have open, `ulimit -n`.
    static var openFiles: UInt64? { known(cp_limit_open_files()) }

    /// Maximum of archives kept open for occasional reads: with two descriptors and some hundred kB each, a quarter of the
    /// limits.
    static var mostOpenArchives: Int {
        let byFiles = (openFiles ?? .max) / 8
        let byAddresses = (addresses ?? .max) / (4 << 20)
        return Int(clamping: min(byFiles, byAddresses, 4096))
    }

    private static func known(_ limit: UInt64) -> UInt64? { limit == .max ? nil : limit }
}
