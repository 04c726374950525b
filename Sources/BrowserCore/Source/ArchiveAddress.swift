/// Where an archive is: its store's folder, and its name there.
package struct ArchiveAddress: Sendable, Hashable {
    package let store: String
    package let name: String

    package init(_ name: String, in store: String) {
        self.store = store
        self.name = name
    }
}
