import CNcurses

package enum SourceCommit {
    /// The commit that was built, such as `7455518d21`, with `-dirty` if files had changed; nil if the build didn't pass it.
    package static let name: String? = {
        let name = String(cString: cnc_commit())
        return name.isEmpty ? nil : name
    }()
}
