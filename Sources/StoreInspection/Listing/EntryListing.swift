import ArchiveQuery
import StorageEngine

/// A list of entries in LRU order at one moment. Only asking for an entry reads the store. Safe from any thread.
package protocol EntryListing: Sendable {
    var count: Int { get }
    /// Sum of the sizes of all values.
    var valueBytes: UInt64 { get }

    /// Bytes of the value and accesses of an entry, without reading the store.
    func figures(at index: Int) -> (size: UInt32, hits: UInt32)

    /// When an entry expires and where it is held, without reading the store.
    func terms(at index: Int) -> (expires: Timestamp?, tier: Tier)

    /// When an entry was last accessed, without reading the store.
    func accessed(at index: Int) -> Timestamp

    /// Hints that the key or the value of an entry will be read soon. An implementation may do nothing.
    func prefetch(at index: Int)

    /// The key; nil when the entry is gone and its place was used again.
    /// - Throws: when its bytes are damaged, or can't be read now.
    func key(at index: Int) throws(SourceError) -> String?

    /// Calls `body` with the index and the bytes of the key of each of these rows, no bytes for one that is gone or can't be read;
    /// they are valid during the call.
    /// - Returns: how many could not be read.
    func readKeys(
        of rows: Range<Int>, in positions: Positions, _ body: (Int, UnsafeRawBufferPointer) -> Void
    ) -> Int

    /// The metadata of the entry's key as they are now; nil when the entry is gone.
    /// - Throws: as ``key(at:)``.
    func entry(at index: Int) throws(SourceError) -> EntryMetadata?

    /// Encoding and bytes of the key's present value; nil if there is no entry, or its value is in a process' memory only.
    /// - Throws: as ``key(at:)``.
    func value(at index: Int) throws(SourceError) -> (encoding: ValueEncoding, bytes: [UInt8])?

    /// Where the entry with that key stands, if that can be told without looking at all of them.
    func index(ofKey key: String) -> Int?

    /// What a server's key is, and how the server keeps its value; nil in a store, and for what wasn't asked about.
    func traits(at index: Int) -> (type: String, layout: String?)?

    var isByRecency: Bool { get }

    /// Whether there are entries that aren't listed, because they are too many.
    var isCut: Bool { get }

    /// Whether figures, terms and times are known of all entries. A server's are asked for key by key.
    var knowsFigures: Bool { get }

    /// Has them known. `goesOn` is told the share done, 0 to 1.
    /// - Returns: false if it was stopped.
    func learnFigures(_ goesOn: (Double) -> Bool) throws(SourceError) -> Bool

    /// Why entries can't be asked for these; nil: they can. A server doesn't tell all that a store does.
    func objection(to properties: [QueryProperty]) throws(SourceError) -> String?

    /// Says that the metadata of these entries will be read now, so that all can be asked for at once.
    func prepare(_ indices: [Int]) throws(SourceError)
}

/// A store's list knows all that.
extension EntryListing {
    package func traits(at index: Int) -> (type: String, layout: String?)? { nil }
    package var isByRecency: Bool { true }
    package var isCut: Bool { false }
    package var knowsFigures: Bool { true }
    package func objection(to properties: [QueryProperty]) throws(SourceError) -> String? { nil }
    package func learnFigures(_ goesOn: (Double) -> Bool) throws(SourceError) -> Bool { true }
    package func prepare(_ indices: [Int]) throws(SourceError) {}

    package func prefetch(at index: Int) {}

    /// Hints at the entry some rows behind one that is about to be read: that takes as long as memory takes to answer.
    package func prefetch(behind row: Int, of rows: Positions) {
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
