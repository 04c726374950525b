import SystemC

/// The user's folder for caches, where stores are created by default.
public enum CachesFolder {
    /// `$XDG_CACHE_HOME` or `~/.cache` (XDG Base Directory Specification); on macOS `~/Library/Caches`.
    public static func path() -> String {
        let home = variable("HOME") ?? "/"
        #if os(macOS)
        return home + "/Library/Caches"
        #else
        // The specification says to ignore relative paths.
        if let folder = variable("XDG_CACHE_HOME"), folder.hasPrefix("/") { return folder }
        return home == "/" ? "/.cache" : home + "/.cache"
        #endif
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
