import StorageEngine
import StoreInspection

package struct ValueLoad: Sendable {
    package var entry: EntryMetadata
    package var content: ValueContent
    /// The value's first bytes, or all of a short one.
    package var head: [UInt8]
    package var remark: String?
    /// A server's type of a value shown as a document, such as `stream`.
    package var typeName: String?

    /// Size in bytes as in lists: the length, or the memory that a server's key takes.
    package var size: Int

    package var name: String { typeName ?? content.name }

    /// Maximum bytes read for the pane.
    package static let previewLimit = 256 << 10

    /// Reads and decodes a value, or the beginning of one longer than `limit`.
    /// - Returns: nil if the entry doesn't exist.
    static func load(
        _ key: String, limit: Int, in archive: ArchiveAddress, from source: any StoreSource
    ) throws(SourceError) -> ValueLoad? {
        guard let entry = try source.entry(key, in: archive) else { return nil }
        let wanted = entry.valueBytes <= limit ? entry.valueBytes : min(limit, ValueContent.headLimit)
        guard let head = try source.bytes(key, range: 0..<wanted, in: archive) else {
            return nil
        }
        let content = ValueContent(head, total: entry.valueBytes, encoding: entry.encoding)
        return ValueLoad(
            entry: entry, content: content, head: head, remark: source.remark(on: key, in: archive),
            typeName: source.typeName(of: key, in: archive),
            size: source.memory(of: key, in: archive) ?? entry.valueBytes)
    }
}
