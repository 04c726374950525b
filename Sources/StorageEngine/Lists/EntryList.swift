/// The order of a list of entries.
public enum RecencyOrder: Sendable, Hashable {
    /// The most recently used entry first.
    case mostRecentFirst
    /// The least recently used entry first.
    case leastRecentFirst
    /// The entry that the limit evicts next first, if only new keys are stored until then: under ``EvictionPolicy/lru`` the same as
    /// `leastRecentFirst`.
    case nextEvictedFirst
}

/// The entries of an archive, in the order of recency or of eviction.
///
/// Has each entry that was present throughout the listing, once. It may have some of the entries that others stored or removed
/// during it (some ten milliseconds for a million entries) and lack others, also of one batch: an ``ArchiveSnapshot`` is of one
/// moment.
///
/// Uses 48 bytes for each entry, without keys and values; these are read from the archive on request: the listed versions, or
/// `nil` if the entry was removed or stored again since.
public struct EntryList: Sendable, RandomAccessCollection {
    let engine: ArchiveEngine
    let references: [EntryReference]
    /// The order of the entries.
    public let order: RecencyOrder
    /// Sum of the sizes of all values in bytes.
    public let totalValueBytes: UInt64
    let renumberings: UInt64
    /// Tags that several listed entries have: about n² ÷ 2³³ pairs of n. Set when needed, by sorting all tags.
    private let sharedTags = GuardedReference<Set<UInt32>?>(nil)
    /// Every change up to the lower bound had finished before the entries were read; none above the upper bound had begun.
    private let sequences: ClosedRange<UInt64>

    /// - Parameter most: how many of the most recent entries are listed; `nil`: all.
    init(engine: ArchiveEngine, order: RecencyOrder, mostRecent most: Int? = nil) throws(StorageError) {
        self.engine = engine
        self.order = order
        renumberings = engine.index.renumberings
        let before = engine.index.settledSequence
        var references =
            if let most { try EntryLister(engine: engine).recentReferences(most) } else {
                try EntryLister(engine: engine).liveReferences()
            }
        NumberSort.sort(&references, descending: order == .mostRecentFirst) { Int64($0.recency) }
        if let most { references.removeLast(Swift.max(0, references.count - most)) }
        if order == .nextEvictedFirst, engine.index.evictionPolicy == .s3fifo {
            let order = EvictionForecast(engine: engine).order(of: references)
            references = order.indices.map { references[Int($0)] }
        }
        totalValueBytes = references.reduce(0) { $0 + UInt64($1.valueBytes) }
        self.references = references
        sequences = before...Swift.max(before, engine.index.sequence)
    }

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of entries.
    public var endIndex: Int { references.count }
    /// The entry at `index`, from 0 on. Reads nothing from the archive.
    public subscript(index: Int) -> EntryReference { references[index] }

    /// Position of the entry at `index` in the order of recency, where 1 is the most recent, or in that of eviction, where 1 is the
    /// last.
    public func rank(at index: Int) -> Int {
        order == .mostRecentFirst ? index + 1 : references.count - index
    }

    /// The key of the entry at `index`; `nil` if it was removed or stored again since and its bytes have been reclaimed. Throws
    /// `corrupted` if its bytes are damaged; `limitReached` if descriptors or addresses have run out.
    public func key(at index: Int) throws(StorageError) -> String? {
        try key(at: index, present: false)
    }

    /// Like ``key(at:)``, but also if the entry was stored again.
    package func presentKey(at index: Int) throws(StorageError) -> String? {
        try key(at: index, present: true)
    }

    @inline(__always) package func prefetch(at index: Int) { engine.log.prefetch(references[index].location) }

    /// Calls `body` with each row's index and key, if any, valid during the call. Returns the count of damaged or unreadable keys.
    package func readPresentKeys(
        _ rows: Range<Int>, at index: (Int) -> Int, _ body: (Int, UnsafeRawBufferPointer) -> Void
    ) -> Int {
        var unreadable = 0
        var pin: SegmentLog.Pin?
        // Opening a missing segment costs system calls, and many entries may have been moved out of one.
        var missing: Set<UInt32> = []
        defer { if let pin { engine.log.unpin(pin) } }
        for row in rows {
            // Memory latency equals about eight key comparisons.
            if row + 8 < rows.upperBound { prefetch(at: index(row + 8)) }
            let index = index(row)
            let reference = references[index]
            let segment = reference.location.segment
            if pin?.segment != segment {
                if let pin { engine.log.unpin(pin) }
                pin = missing.contains(segment) ? nil : engine.log.pin(segment)
                if pin == nil { missing.insert(segment) }
            }
            if let pin, let frame = engine.log.frame(pin, at: reference.location.offset),
                engine.hash.tag(frame.key) == reference.tag
            {
                body(index, frame.key)
            } else if !readMovedKey(at: index, missing, body) {
                unreadable += 1
            }
        }
        return unreadable
    }

    /// Reads the key of a moved entry, except from unreadable segments. Returns whether the result is certain.
    private func readMovedKey(
        at index: Int, _ missing: Set<UInt32>, _ body: (Int, UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        let none = UnsafeRawBufferPointer.empty
        do throws(StorageError) {
            var isLost = false
            let found = try following(index, present: true) { (content) throws(StorageError) in
                // Doesn't search again in a file that is known to be missing.
                isLost = missing.contains(content.location.segment)
                if isLost { return nil as Bool? }
                return try engine.withFrame(at: content.location, tag: content.tag) { frame in
                    body(index, frame.key)
                    return true
                }
            }
            if found == true { return true }
            // The frame at this location may be invalid by now.
            if !isLost { isLost = try isDamaged(at: index) }
            body(index, none)
            return !isLost
        } catch {
            body(index, none)
            // A removed archive has no entries any more.
            if case .closed = error { return true }
            return false
        }
    }

    private func key(at index: Int, present: Bool) throws(StorageError) -> String? {
        let reference = references[index]
        if !isReclaimed(reference.location),
            let key = try engine.withFrame(at: reference.location, tag: reference.tag, keyText)
        {
            return key
        }
        return try following(index, present: present) { (content) throws(StorageError) in
            try engine.withFrame(at: content.location, tag: content.tag, keyText)
        }
    }

    private func keyText(_ frame: Frame) -> String { String(decoding: frame.key, as: UTF8.self) }

    /// The metadata of the entry at `index`; `nil` if it was removed or stored again since. Doesn't read the value, so
    /// only key and owner are verified, by their hashes. Throws `corrupted` if their bytes are damaged; `limitReached`
    /// if descriptors or addresses have run out.
    public func metadata(at index: Int) throws(StorageError) -> EntryMetadata? {
        try metadata(at: index, wholly: false)
    }

    private func metadata(at index: Int, wholly: Bool) throws(StorageError) -> EntryMetadata? {
        let reference = references[index]
        return try following(index, present: false) { (content) throws(StorageError) in
            try engine.withFrame(of: content, wholly: wholly) { frame in
                EntryMetadata(
                    key: keyText(frame),
                    valueBytes: content.isMemoryOnly ? Int(reference.valueBytes) : Int(frame.valueBytes),
                    encoding: frame.encoding, created: Timestamp(microseconds: frame.created),
                    accessed: reference.accessed, expires: content.expires, hits: reference.hits,
                    owner: frame.ownerName, rank: rank(at: index), recency: reference.recency,
                    sequence: frame.sequence, tier: reference.tier)
            }
        }
    }

    /// Like ``metadata(at:)``. For an entry that was stored again, its present metadata without a rank.
    package func presentMetadata(at index: Int) throws(StorageError) -> EntryMetadata? {
        try presentMetadata(at: index, wholly: false)
    }

    private func presentMetadata(at index: Int, wholly: Bool) throws(StorageError) -> EntryMetadata? {
        if let metadata = try metadata(at: index, wholly: wholly) { return metadata }
        guard let key = try presentKey(at: index) else { return nil }
        return try StatusReader(engine).metadata(of: key)
    }

    /// Like ``presentKey(at:)``, but also `nil` if its bytes are damaged (``isDamaged(at:)``).
    package func soundKey(at index: Int) throws(StorageError) -> String? {
        try StorageError.nilIf(\.isCorrupted, presentKey(at: index)) ?? nil
    }

    /// Like ``presentMetadata(at:)``, but `nil` for a damaged entry. Verifies a larger entry than 4,096 bytes in part.
    package func soundMetadata(at index: Int) throws(StorageError) -> EntryMetadata? {
        try StorageError.nilIf(\.isCorrupted, presentMetadata(at: index, wholly: true)) ?? nil
    }

    /// Whether an unreadable listed entry is damaged: the archive still has it. If not, it was removed, replaced or moved since.
    package func isDamaged(at index: Int) throws(StorageError) -> Bool {
        guard isCurrent(at: index) else { return false }
        return try soundMetadata(at: index) == nil
    }

    /// Whether the archive still has this version of the entry at `index`. `false` also if this is unknown now.
    public func isCurrent(at index: Int) -> Bool { ((try? slotContent(at: index)) ?? nil) != nil }

    /// The index slot of the entry at `index`, even if its frame was moved; `nil` if the archive no longer has the entry.
    func slotContent(at index: Int) throws(StorageError) -> SlotContent? {
        let reference = references[index]
        return try firstContent(of: reference) { (content) throws(StorageError) in
            if content.location == reference.location { return true }
            let sequence = try following({ () throws(StorageError) in
                try engine.slotContent(content.number, ofTag: content.tag)
            }) { (content) throws(StorageError) in
                try engine.withFrameIfPresent(at: content.location) { $0.sequence }
            }
            guard let sequence, try isListed(sequence, reference) else { return false }
            // After a renumbering, the slot may be that of another entry whose key has the same hash.
            return engine.index.renumberings == renumberings || content.slot.recency == reference.recency
                || content.bytes == reference.valueBytes && isOnlyEntryOfTag(content)
        }
    }

    /// Whether no other entry, listed or not, has the tag of this one.
    private func isOnlyEntryOfTag(_ content: SlotContent) -> Bool {
        guard engine.index.table.entries(ofTag: content.tag) == [content.number] else { return false }
        return sharedTags.withLock { known in
            if known == nil {
                let sorted = references.map(\.tag).sorted()
                known = Set(zip(sorted, sorted.dropFirst()).lazy.filter { $0 == $1 }.map(\.0))
            }
            return known?.contains(content.tag) == false
        }
    }

    /// Whether an entry at another location is the listed version: a moved one keeps its sequence, a stored one has a higher one.
    private func isListed(_ sequence: UInt64, _ reference: EntryReference) throws(StorageError) -> Bool {
        guard sequence > sequences.lowerBound else { return true }
        guard sequence <= sequences.upperBound else { return false }
        // Stored while the list was made: compares its former bytes. If they are reclaimed, it counts as stored again.
        return try engine.withFrameIfPresent(at: reference.location) { $0.sequence == sequence } ?? false
    }

    /// Like `slotContent(at:)`, also for an entry that was stored again, unless two entries share its tag.
    private func presentSlotContent(at index: Int) throws(StorageError) -> SlotContent? {
        if let content = try slotContent(at: index) { return content }
        let reference = references[index]
        return try firstContent(of: reference) { content in
            content.number == reference.number && engine.index.renumberings == renumberings
                || isOnlyEntryOfTag(content)
        }
    }

    private func firstContent(
        of reference: EntryReference, where isMeant: (SlotContent) throws(StorageError) -> Bool
    ) throws(StorageError) -> SlotContent? {
        func slotContent(_ number: UInt32) throws(StorageError) -> SlotContent? {
            guard let content = try engine.slotContent(number, ofTag: reference.tag), try isMeant(content)
            else {
                return nil
            }
            return content
        }
        if let content = try slotContent(reference.number) { return content }
        // The entry may have been renumbered since.
        guard engine.index.renumberings != renumberings else { return nil }
        for number in engine.index.table.entries(ofTag: reference.tag) where number != reference.number {
            if let content = try slotContent(number) { return content }
        }
        return nil
    }

    /// Like ``following(_:_:)`` for the entry at `index`; with `present`, also for one that was stored again.
    private func following<Result>(
        _ index: Int, present: Bool, _ body: (SlotContent) throws(StorageError) -> Result?
    ) throws(StorageError) -> Result? {
        try following(
            { () throws(StorageError) in
                present ? try presentSlotContent(at: index) : try slotContent(at: index)
            }, body)
    }

    /// Calls `body` with the slot's content, and again if the entry was moved during it. `nil`: removed or not found.
    private func following<Result>(
        _ content: () throws(StorageError) -> SlotContent?,
        _ body: (SlotContent) throws(StorageError) -> Result?
    ) throws(StorageError) -> Result? {
        var before: Location?
        for _ in 0..<ArchiveEngine.mostRetries {
            guard let content = try content(), content.location != before else { return nil }
            if let result = try body(content) { return result }
            before = content.location
        }
        throw engine.changesTooFast
    }

    /// Calls `body` with the value that the entry at `index` had when the list was made; the bytes are valid during the
    /// call. Records no access. `nil` if it was removed or stored again since and its bytes have been reclaimed, and for
    /// a memory-only entry. Throws `corrupted` if the bytes fail their checksum.
    public func withValue<Result>(
        at index: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(StorageError) -> Result? {
        try withFrame(at: index) { body($0.value) }
    }

    /// The listed version or, if that was removed, the present one; `nil` if absent, or only in a process's memory.
    package func presentContent(
        at index: Int
    ) throws(StorageError) -> (key: String, encoding: ValueEncoding, value: [UInt8])? {
        try withFrame(at: index, orStoredAnew: true) { frame in
            (keyText(frame), frame.encoding, Array(frame.value))
        }
    }

    /// Whether all live frames have been moved out of its segment. Searching for the file would cost system calls.
    private func isReclaimed(_ location: Location) -> Bool { location.segment < engine.index.oldestSegment }

    private func withFrame<Result>(
        at index: Int, orStoredAnew: Bool = false, _ body: (Frame) -> Result
    ) throws(StorageError) -> Result? {
        let reference = references[index]
        guard reference.tier != .memory else { return nil }
        if !isReclaimed(reference.location),
            let result = try engine.withSoundFrame(at: reference.location, body)
        {
            return result
        }
        return try following(index, present: orStoredAnew) { (content) throws(StorageError) in
            content.isMemoryOnly ? nil : try engine.withSoundFrame(at: content.location, body)
        }
    }
}

extension EntryList {
    /// Whether this process can find the entry at `index`: on disk or in its own memory, but not only in another process's.
    package func isReachable(at index: Int) -> Bool {
        guard self[index].tier == .memory else { return true }
        return ((try? slotContent(at: index)) ?? nil).map { engine.isHeldHere($0.number) } ?? false
    }

    /// Process IDs of the live processes that now hold the object of the entry at `index` in memory.
    public func holders(at index: Int) -> [Int32] {
        ((try? slotContent(at: index)) ?? nil).map { engine.holders(of: $0.number) } ?? []
    }
}
