import ArchiveQuery
import StorageEngine

/// A snapshot of entries, the most recently used first. Entries are read from the store when requested.
package protocol EntryListing: Sendable {
    var count: Int { get }
    var valueBytes: UInt64 { get }

    /// Bytes of the value and accesses of an entry, without reading the store.
    func figures(at index: Int) -> (size: UInt64, hits: UInt32)

    /// When an entry expires and where it is held, without reading the store.
    func expiryAndTier(at index: Int) -> (expires: Timestamp?, tier: Tier)

    /// When an entry was last accessed, without reading the store.
    func accessed(at index: Int) -> Timestamp

    /// Prefetches a key or value. May do nothing.
    func prefetch(at index: Int)

    /// The key of an entry; nil if the entry was removed and its location reused.
    /// - Throws: if its bytes are damaged or can't be read now.
    func key(at index: Int) throws(SourceError) -> String?

    /// Calls `body` with each row's index and the bytes of its key, nil if the key is missing or unreadable. The bytes are valid
    /// during the call.
    /// - Returns: the number of unreadable keys.
    func readKeys(
        of rows: Range<Int>, in positions: Positions, _ body: (Int, UnsafeRawBufferPointer) -> Void
    ) -> Int

    /// The current metadata of the key; nil if the entry was removed.
    /// - Throws: as ``key(at:)``.
    func entry(at index: Int) throws(SourceError) -> EntryMetadata?

    /// Encoding and bytes of the current value; nil if it was removed or is only in a process's memory.
    /// - Throws: as ``key(at:)``.
    func value(at index: Int) throws(SourceError) -> (encoding: ValueEncoding, bytes: [UInt8])?

    /// The index of a key, if it can be found without reading all entries.
    func index(ofKey key: String) -> Int?

    /// A server's type and encoding of the value; nil in a store and if not requested.
    func kind(at index: Int) -> (type: String, layout: String?)?

    /// Metadata of a server's key that the user has no right to read; empty if not requested.
    func unknown(at index: Int) -> Set<QueryMetadata>

    var isByRecency: Bool { get }

    /// The order in which S3-FIFO evicts the entries; nil if the least recently used one is evicted first, or if unknown.
    var evictionOrder: EvictionOrder? { get }

    /// Whether the list was limited because there are too many entries.
    var isCut: Bool { get }

    /// Whether the metadata of all entries is known. For a server it is requested separately for each key.
    var knowsFigures: Bool { get }

    /// Requests the unknown metadata of entries. `shouldContinue` gets the share done, 0 to 1.
    /// - Returns: false if it was stopped.
    func loadMetadata(of entries: Positions, _ shouldContinue: (Double) -> Bool) throws(SourceError) -> Bool

    /// Whether the entry was present when its metadata was read; nil: it wasn't read.
    func wasPresent(at index: Int) -> Bool?

    /// Why these properties aren't available; nil if they are.
    func unsupportedReason(for properties: [QueryProperty]) throws(SourceError) -> String?

    /// Prefetches the metadata of entries in one request.
    func prepare(_ indices: [Int]) throws(SourceError)

    /// The same list, but reads values even if the server counts each read as an access.
    func allowingAccesses() -> any EntryListing
}

extension EntryListing {
    package func kind(at index: Int) -> (type: String, layout: String?)? { nil }
    package func unknown(at index: Int) -> Set<QueryMetadata> { [] }
    package var isByRecency: Bool { true }
    package var evictionOrder: EvictionOrder? { nil }
    package var isCut: Bool { false }
    package var knowsFigures: Bool { true }
    package func wasPresent(at index: Int) -> Bool? { true }
    package func unsupportedReason(for properties: [QueryProperty]) throws(SourceError) -> String? { nil }
    package func loadMetadata(of entries: Positions, _ shouldContinue: (Double) -> Bool) throws(SourceError)
        -> Bool
    {
        true
    }

    package func loadMetadata(_ shouldContinue: (Double) -> Bool) throws(SourceError) -> Bool {
        try loadMetadata(of: .all(count), shouldContinue)
    }

    package func prepare(_ indices: [Int]) throws(SourceError) {}

    package func allowingAccesses() -> any EntryListing { self }

    package func prefetch(at index: Int) {}

    /// Prefetches an entry some rows ahead, to hide memory latency.
    package func prefetch(after row: Int, of rows: Positions) {
        let ahead = 8
        if row + ahead < rows.count { prefetch(at: rows.index(atRow: row + ahead)) }
    }

    package func readKeys(
        of rows: Range<Int>, in positions: Positions, _ body: (Int, UnsafeRawBufferPointer) -> Void
    ) -> Int {
        var unreadable = 0
        for row in rows {
            let index = positions.index(atRow: row)
            var key = ""
            do throws(SourceError) {
                key = try self.key(at: index) ?? ""
            } catch {
                unreadable += 1
            }
            key.withUTF8 { body(index, UnsafeRawBufferPointer($0)) }
        }
        return unreadable
    }
}
