#if canImport(FoundationEssentials)
import FoundationEssentials
import Glibc
#else
import Foundation
#endif

/// Sendable value type. A new folder that only this user can enter, in `$TMPDIR` or `/tmp`.
struct TemporaryFolder: Sendable {
    let path: String

    init() throws(CommandFailure) {
        var template = (SystemText.environment("TMPDIR") ?? "/tmp") + "/vellum-demo-XXXXXX"
        while let doubled = template.firstRange(of: "//") { template.replaceSubrange(doubled, with: "/") }
        var name = Array(template.utf8CString)
        guard mkdtemp(&name) != nil else {
            throw CommandFailure(template, errno: errno, status: .storeFailure)
        }
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the folder with all it holds; what can't be removed stays. Links are removed, not followed.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
