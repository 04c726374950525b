/// A folder that only this user can enter, in `$TMPDIR` or `/tmp`.
struct TemporaryFolder: Sendable {
    let path: String

    init(_ name: String = "vellum", in folder: String? = nil) throws(CommandFailure) {
        let template = (folder ?? SystemText.environment("TMPDIR") ?? "/tmp") + "/\(name)-XXXXXX"
        var made = Array(template.utf8CString)
        guard mkdtemp(&made) != nil else {
            throw CommandFailure(template, errno: errno, status: .storeFailure)
        }
        path = String(decoding: made.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the folder and its contents as far as possible. Doesn't follow links.
    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
