#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Stateless; safe from any thread. Finds what is installed beside the program, or lies in the source folder around it.
enum DemoFile {
    private static let name = "demo/cities.ndjson"

    /// Path of the file of cities: in `$VELLUM_ASSETS`, in `../share/vellum` beside the folder of the program, or in
    /// `Assets` of a folder around it.
    static func path() throws(CommandFailure) -> String {
        if let folder = SystemText.environment("VELLUM_ASSETS") {
            let path = folder + "/" + name
            guard isReadable(path) else {
                throw CommandFailure("VELLUM_ASSETS is set, and there is no file \(path)", status: .usage)
            }
            return path
        }
        var folder = parent(of: executable)
        let installed = folder.map { $0 + "/../share/vellum/" + name }
        if let installed, isReadable(installed) { return installed }
        while let around = folder {
            let path = around + "/Assets/" + name
            if isReadable(path) { return path }
            folder = parent(of: around)
        }
        throw CommandFailure(
            "cannot find \(name); set VELLUM_ASSETS to the folder that holds it", status: .usage)
    }

    /// Absolute path of this program, with links followed.
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

    private static func isReadable(_ path: String) -> Bool {
        access(path, R_OK) == 0
    }

    private static func parent(of path: String) -> String? {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), path != "/" else { return nil }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
