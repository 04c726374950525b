import StorageEngine

/// The store and name of an archive, compared as bytes.
package struct ArchiveAddress: Sendable, Hashable {
    private let folder: ExactText
    private let archive: ExactText

    package var store: String { folder.text }
    package var name: String { archive.text }

    package init(_ name: String, in store: String) {
        folder = ExactText(store)
        archive = ExactText(name)
    }
}

package struct EntryAddress: Sendable, Hashable, CustomStringConvertible {
    package let archive: ArchiveAddress
    private let name: ExactText

    package var key: String { name.text }
    package var description: String { "\(archive.name)/\(key)" }

    package init(_ key: String, in archive: ArchiveAddress) {
        name = ExactText(key)
        self.archive = archive
    }
}
