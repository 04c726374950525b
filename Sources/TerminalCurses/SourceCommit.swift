import CNcurses

package enum SourceCommit {
    /// `7455518d21`, with `-dirty` for a tree with changes; nil if the build named none.
    package static let name: String? = {
        let name = String(cString: cnc_commit())
        return name.isEmpty ? nil : name
    }()
}
