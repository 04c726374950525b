import Foundation
import Nest
import Vellum

/// An encoded item of a ``RemoteNest``, decoded once on demand.
struct NestItem: Archivable, @unchecked Sendable {
    static var archiveTypeName: String { "RemoteNest" }
    static var archivePropertyBehavior: ArchivePropertyBehavior { .ignore }

    let primaryKey: String
    private let bytes: [UInt8]
    private let decoded: Decoded

    private final class Decoded: @unchecked Sendable {
        private let lock = NSLock()
        private var item: Any?

        init(_ item: Any?) { self.item = item }

        var present: Any? { lock.withLock { item } }

        /// Keeps and returns the first item.
        func keep(_ item: Any) -> Any {
            lock.withLock {
                if let present = self.item { return present }
                self.item = item
                return item
            }
        }
    }

    init(_ key: String, _ bytes: [UInt8], _ item: Any? = nil) {
        primaryKey = key
        self.bytes = bytes
        decoded = Decoded(item)
    }

    /// Decodes without the lock, because the item's code may use the nest.
    func item(allowing classes: [AnyClass]) throws -> Any {
        if let present = decoded.present { return present }
        return decoded.keep(try ItemCoding.decode(bytes, allowing: classes).item)
    }

    func archive() throws -> Data { Data(bytes) }

    static func deArchive(fromData data: Data, forKey key: String) throws -> Archivable {
        NestItem(key, [UInt8](data))
    }

    static func deArchive(fromData data: Data) throws -> Archivable {
        throw ArchiveError.noCoding(type: archiveTypeName)
    }
}
