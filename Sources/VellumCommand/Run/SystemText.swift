enum SystemText {
    /// The value of an environment variable; nil if it is absent or empty.
    static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// Whether the terminal can only print lines, like one within an editor.
    static var isTerminalPlain: Bool { environment("TERM") ?? "dumb" == "dumb" }

    /// Whether the locale's characters are UTF-8.
    static var isUTF8: Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first?.uppercased() ?? ""
        return locale.contains("UTF-8") || locale.contains("UTF8")
    }

    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Bytes available to this user on the path's file system; nil if unknown.
    static func freeBytes(at path: String) -> UInt64? {
        var disk = statvfs()
        guard statvfs(path, &disk) == 0 else { return nil }
        return UInt64(disk.f_bavail) &* UInt64(disk.f_frsize)
    }
}
