/// Names of files in an archive's folder: OnDiskFormat, "Folders".
enum ArchiveFile {
    static let index = "index"
    static let newIndex = "index.new"
    static let attached = "attached"
    static let lock = "lock"
    static let requests = "requests"
    static let newRequests = "requests.new"
}
