import CNcurses

/// Stateless. The commit that this was built from, as who built it said.
package enum SourceCommit {
    /// `7455518d21`, with `-dirty` where files had been changed since; nil: nobody said.
    package static let name: String? = {
        let name = String(cString: cnc_commit())
        return name.isEmpty ? nil : name
    }()
}
