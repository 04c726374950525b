/// Applies batches (S15): writes all frames in one segment after the log tail, then publishes them. OnDiskFormat, "Batches".
struct BatchWriter: ArchiveOperation {
    let engine: ArchiveEngine

    func apply(_ batch: PreparedBatch) throws(StorageError) -> [BatchResult]? {
        let bytes = batch.valueBytes + batch.bytes.count + 120 * batch.changes.count
        return try FullDisk(engine).retrying(bytes: bytes) { () throws(StorageError) in
            try withBytes(of: batch.bytes) { (bytes) throws(StorageError) in
                try apply(engine.acquire(), batch, bytes)
            }
        }
    }

    fileprivate static let evictionsInFrame = 4096

    private func apply(
        _ section: borrowing ArchiveSection, _ batch: PreparedBatch, _ bytes: UnsafeRawBufferPointer
    ) throws(StorageError) -> [BatchResult]? {
        for condition in batch.conditions {
            guard try isMet(section, condition, bytes) else { return nil }
        }
        if let limit = engine.diskLimit, batch.valueBytes > limit {
            engine.reportRejection(.empty, tag: 0, bytes: batch.valueBytes, .tooLarge)
            throw .batchTooLarge(bytes: batch.valueBytes, limit: limit, archive: engine.name)
        }
        let stamps = section.index.touches.takeStampsAndDrain(batch.changes.count)
        let changes = try lookUp(section, batch.changes, bytes)
        let results = results(section, of: changes, in: batch)
        let needed = changes.filter(\.isNeeded)
        guard !needed.isEmpty else { return results }
        let plan = BatchPlan(
            changes: needed, victims: try victims(section, for: needed), firstStamp: stamps,
            time: Clock.wall())
        try carryOut(section, plan, bytes)
        return results
    }

    private func isMet(
        _ section: borrowing ArchiveSection, _ condition: BatchCondition, _ bytes: UnsafeRawBufferPointer
    ) throws(StorageError) -> Bool {
        let key = UnsafeRawBufferPointer(rebasing: bytes[condition.key])
        guard let present = try section.findToChange(key, tag: condition.tag) else {
            return condition.sequence == nil
        }
        defer { engine.unpin(present) }
        return try condition.sequence == engine.presentSequence(of: present, key, tag: condition.tag)
    }

    private func lookUp(
        _ section: borrowing ArchiveSection, _ changes: [BatchChange], _ bytes: UnsafeRawBufferPointer
    ) throws(StorageError) -> [BatchChange] {
        var changes = changes
        for place in changes.indices {
            let key = UnsafeRawBufferPointer(rebasing: bytes[changes[place].key])
            guard let present = try section.findToChange(key, tag: changes[place].tag) else { continue }
            defer { engine.unpin(present) }
            changes[place].number = present.number
            changes[place].previous = present.location
            changes[place].isExpired = engine.isExpired(present)
            if changes[place].keepsCreation, !changes[place].isExpired {
                changes[place].created = present.frame.created
                changes[place].keep(present)
            }
        }
        return changes
    }

    private func results(
        _ section: borrowing ArchiveSection, of changes: [BatchChange], in batch: PreparedBatch
    ) -> [BatchResult] {
        var results = [BatchResult](repeating: .superseded, count: batch.itemCount)
        for change in changes {
            let isThere = change.number != 0 && !change.isExpired
            results[change.item] =
                change.value == nil ? (isThere ? .deleted : .absent) : isThere ? .replaced : .stored
        }
        return results
    }

    /// The least recent entries to evict for the limit, except those that the batch changes.
    private func victims(_ section: borrowing ArchiveSection, for changes: [BatchChange]) throws(StorageError)
        -> [UInt32]
    {
        let index = section.index
        guard let limit = engine.diskLimit else { return [] }
        var bytes = Int(index.valueBytes)
        var spared = Set<UInt32>(minimumCapacity: changes.count)
        for change in changes {
            bytes += change.value?.count ?? 0
            guard let slot = index.entry(change.number) else { continue }
            bytes -= Int(slot.valueBytes)
            spared.insert(change.number)
        }
        let excess = bytes - Int(clamping: limit)
        guard excess > 0 else { return [] }
        let victims = index.order.victims(toFree: excess, sparing: spared.contains)
        guard victims.bytes >= excess else { throw section.miscounted() }
        return Array(victims)
    }

    private func carryOut(
        _ section: borrowing ArchiveSection, _ plan: BatchPlan, _ bytes: UnsafeRawBufferPointer
    ) throws(StorageError) {
        let index = section.index
        let frameBytes = plan.frameBytes
        let total = Frame.bytes(key: 0, extension: 0, value: BatchHeader.bytes) + frameBytes.sum
        guard total <= BatchHeader.maximumFrameBytes else {
            throw .batchTooLarge(
                bytes: total, limit: UInt64(BatchHeader.maximumFrameBytes), archive: engine.name)
        }
        try section.reserveEntries(plan.changes.count { $0.number == 0 })
        let (first, pin) = try section.spaceForFrames(bytes: total)
        defer { log.unpin(pin) }
        let steps = write(section, plan, bytes, count: frameBytes.count, total: total, at: first, pin)
        let evicted = plan.victims.compactMap { index.entry($0) }.map {
            (tag: $0.tag, bytes: Int($0.valueBytes), location: $0.location)
        }
        let deleted = plan.changes.map { Int(index.entry($0.number)?.shownBytes ?? 0) }
        BatchPublication(first: first, bytes: total, steps: steps, victims: plan.victims).publish(
            section, pin)
        for (tag, bytes, location) in evicted {
            engine.publish(.eviction, .limit, tag: tag, bytes: bytes, at: location, time: plan.time)
        }
        for (place, change) in plan.changes.enumerated() {
            let kind: EventKind = change.value == nil ? .delete : change.keepsCreation ? .update : .record
            engine.publish(
                kind, .request, tag: change.tag, bytes: change.value?.count ?? deleted[place],
                at: steps[place].location, time: plan.time,
                key: UnsafeRawBufferPointer(rebasing: bytes[change.key]))
            if UInt64(change.tag) < index.sampleThreshold { trace(change, section, deleted: deleted[place]) }
        }
        let puts = plan.changes.count { $0.value != nil }
        index.addLocked(.records, UInt64(puts))
        index.add(.deletes, UInt64(plan.changes.count - puts))
        index.addLocked(.evictions, UInt64(plan.victims.count))
        section.reclaim(forAppended: total)
        section.compactIfSparse(removed: plan.victims.count + plan.changes.count - puts)
    }

    /// Records a change of a sampled key.
    private func trace(_ change: BatchChange, _ section: borrowing ArchiveSection, deleted: Int) {
        guard let value = change.value else {
            return engine.traceSampled(.delete, tag: change.tag, bytes: deleted)
        }
        change.withFrameOptions { options in
            engine.traceSampled(
                .put, tag: change.tag, owner: engine.ownerTag(options.owner), bytes: value.count,
                deadline: options.deadline)
        }
        if change.number == 0 { section.index.adaptSampling() }
    }

    /// Writes all frames from `first` on. None of them counts before the last is complete.
    private func write(
        _ section: borrowing ArchiveSection, _ plan: BatchPlan, _ bytes: UnsafeRawBufferPointer, count: Int,
        total: Int, at first: Location, _ pin: SegmentLog.Pin
    ) -> [BatchStep] {
        var offset = first.offset
        func write(_ content: FrameContent) -> Location {
            section.segments.view(pin).write(content, at: offset)
            defer { offset += content.frameBytes }
            return Location(segment: first.segment, offset: offset)
        }
        func content(_ kind: FrameKind, stamp: UInt64) -> FrameContent {
            FrameContent(
                kind: kind, sequence: section.nextSequence(), recency: stamp, time: plan.time,
                created: plan.time)
        }
        let ownBytes = Frame.bytes(key: 0, extension: 0, value: BatchHeader.bytes)
        BatchHeader(count: count, frameBytes: total - ownBytes).encoded.withUnsafeBytes { header in
            var begin = content(.batch, stamp: plan.firstStamp)
            begin.value = header
            _ = write(begin)
        }
        crashPoint(.batchBegun)
        for start in stride(from: 0, to: plan.victims.count, by: BatchWriter.evictionsInFrame) {
            let named = plan.victims[start..<min(start + BatchWriter.evictionsInFrame, plan.victims.count)]
            var evict = content(.evict, stamp: plan.firstStamp)
            evict.isInBatch = true
            withBatchExtension(section, FrameExtension.evictionBytes(named.count)) { writer in
                BatchPart(first: first, previous: .none).write(to: &writer)
                writer.append(evictions: named.map { section.index.entry($0)?.location ?? .none })
                evict.extensionBytes = writer.written
                _ = write(evict)
            }
        }
        var steps: [BatchStep] = []
        steps.reserveCapacity(plan.changes.count)
        for (place, change) in plan.changes.enumerated() {
            var frame = content(change.value == nil ? .delete : .put, stamp: plan.firstStamp &+ UInt64(place))
            frame.isInBatch = true
            frame.encoding = change.encoding
            frame.created = change.created ?? plan.time
            frame.key = UnsafeRawBufferPointer(rebasing: bytes[change.key])
            let location = change.withFrameOptions { options in
                withBatchExtension(section, options.bytes) { writer in
                    BatchPart(first: first, previous: change.previous).write(to: &writer)
                    options.write(to: &writer)
                    frame.extensionBytes = writer.written
                    return (change.value ?? []).withUnsafeBytes { value in
                        frame.value = value
                        return write(frame)
                    }
                }
            }
            steps.append(
                BatchStep(
                    isPut: change.value != nil, tag: change.tag, number: change.number, location: location))
        }
        crashPoint(.batchWritten)
        return steps
    }

    private func withBatchExtension<Value>(
        _ section: borrowing ArchiveSection, _ bytes: Int, _ body: (inout ExtensionWriter) -> Value
    ) -> Value {
        let size = FrameExtension.partBytes(BatchPart.bytes) + bytes
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            var writer = ExtensionWriter(buffer)
            return body(&writer)
        }
    }
}

private struct BatchPlan {
    var changes: [BatchChange]
    var victims: [UInt32]
    var firstStamp: UInt64
    var time: Int64

    var frameBytes: (count: Int, sum: Int) {
        var count = changes.count
        var sum = changes.reduce(0) { $0 + $1.frameBytes }
        for start in stride(from: 0, to: victims.count, by: BatchWriter.evictionsInFrame) {
            let named = min(BatchWriter.evictionsInFrame, victims.count - start)
            let size = FrameExtension.partBytes(BatchPart.bytes) + FrameExtension.evictionBytes(named)
            sum += Frame.bytes(key: 0, extension: size, value: 0)
            count += 1
        }
        return (count, sum)
    }
}
