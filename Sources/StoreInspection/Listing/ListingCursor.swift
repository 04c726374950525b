import ArchiveQuery
import StorageEngine

/// A query's view of one entry at a time. Keys and values are valid until the cursor moves.
final class ListingCursor: QueryCursor {
    private let listing: any EntryListing
    private(set) var index = -1
    private var metadata: EntryMetadata?
    private var reading: QueryCursorReading?
    private var content = CopiedBytes()
    private var name = CopiedBytes()
    private var hasContent = false
    private(set) var encoding = ValueEncoding.unknown

    init(_ listing: any EntryListing) { self.listing = listing }

    func move(to index: Int) {
        self.index = index
        (metadata, reading, hasContent, encoding) = (nil, nil, false, .unknown)
    }

    var count: Int { listing.count }
    var visited: Int { index + 1 }

    func advance() -> Bool {
        guard index + 1 < listing.count else { return false }
        move(to: index + 1)
        return true
    }

    func load() -> QueryCursorReading {
        if let reading { return reading }
        let reading: QueryCursorReading
        do throws(SourceError) {
            metadata = try listing.entry(at: index)
            reading = metadata == nil ? .removed : .present
        } catch {
            reading = .damaged
        }
        self.reading = reading
        return reading
    }

    func loadValue() -> QueryCursorValue {
        let isInMemoryOnly = listing.expiryAndTier(at: index).tier == .memory
        do throws(SourceError) {
            if isInMemoryOnly { return QueryCursorValue(reading: load(), content: nil, encoding: .unknown) }
            guard let value = try listing.value(at: index) else {
                return QueryCursorValue(reading: .removed, content: nil, encoding: .unknown)
            }
            encoding = value.encoding
            content.keep(value.bytes)
            hasContent = true
            return QueryCursorValue(reading: .present, content: content.bytes, encoding: value.encoding)
        } catch {
            return QueryCursorValue(reading: .damaged, content: nil, encoding: .unknown)
        }
    }

    func loadKey() -> (reading: QueryCursorReading, key: UnsafeRawBufferPointer) {
        do throws(SourceError) {
            guard let key = try listing.key(at: index) else { return (.removed, name.none) }
            name.keep(Array(key.utf8))
            return (.present, name.bytes)
        } catch {
            return (.damaged, name.none)
        }
    }

    var keyBytes: UnsafeRawBufferPointer { loadKey().key }
    var valueContent: UnsafeRawBufferPointer? { hasContent ? content.bytes : nil }

    // MARK: Metadata

    // Servers store numbers as texts.
    var storesNumbersAsText: Bool { !listing.isByRecency }

    private var details: EntryMetadata? {
        if metadata == nil, !listing.knowsFigures { _ = load() }
        return metadata
    }

    var key: String { metadata?.key ?? String(decoding: keyBytes, as: UTF8.self) }
    var valueBytes: Int { details?.valueBytes ?? Int(listing.figures(at: index).size) }
    var created: Timestamp { metadata?.created ?? accessed }
    var accessed: Timestamp { details?.accessed ?? listing.accessed(at: index) }
    var expires: Timestamp? { details.map(\.expires) ?? listing.expiryAndTier(at: index).expires }
    var hits: UInt32 { details?.hits ?? listing.figures(at: index).hits }
    var tier: Tier { details?.tier ?? listing.expiryAndTier(at: index).tier }
    var owner: String? { metadata?.owner }
    var rank: Int? { index + 1 }
    var recency: UInt64 { metadata?.recency ?? 0 }
    var sequence: UInt64 { metadata?.sequence ?? 0 }
    var type: String? { kind?.type }
    var layout: String? { kind?.layout }

    var unknown: Set<QueryMetadata> {
        _ = details
        return listing.unknown(at: index)
    }

    private var kind: (type: String, layout: String?)? {
        _ = details
        return listing.kind(at: index)
    }
}
