enum DemoFile {
    /// A file of cities in `$VELLUM_ASSETS` to use instead of the embedded one; nil if that isn't set.
    static func path() throws(CommandFailure) -> String? {
        guard let folder = SystemText.environment("VELLUM_ASSETS") else { return nil }
        let path = folder + "/demo/cities.ndjson"
        guard access(path, R_OK) == 0 else {
            throw CommandFailure("VELLUM_ASSETS is set, but there is no file \(path)", status: .usage)
        }
        return path
    }

    static var executable: String {
        #if canImport(Darwin)
        var size = UInt32(PATH_MAX)
        var buffer = [CChar](repeating: 0, count: Int(size))
        guard _NSGetExecutablePath(&buffer, &size) == 0 else { return CommandLine.arguments[0] }
        let link = buffer
        #else
        let link = Array("/proc/self/exe".utf8CString)
        #endif
        guard let path = realpath(link, nil) else { return CommandLine.arguments[0] }
        defer { free(path) }
        return String(cString: path)
    }
}
