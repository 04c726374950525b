/// Limits: keeping them, and changing them together with the rest of the configuration.
extension ArchiveSection {
    func fit(into limit: UInt64) throws(StorageError) {
        if engine.kind == .log { try dropMessages(downTo: limit) } else { try evict(downTo: limit) }
    }

    /// Like ``fit(into:)`` in small parts; drops dead segments, or else the oldest. Requires drained touches.
    func fitMakingRoom(into limit: UInt64) throws(StorageError) {
        do throws(StorageError) {
            return try fit(into: limit)
        } catch {
            guard case .noSpace = error, engine.kind != .log else { throw error }
        }
        try giveUpRoom()
        while index.valueBytes > limit {
            do throws(StorageError) {
                try fitPartly(into: limit)
            } catch {
                guard case .noSpace = error, try dropOldestSegment() else { throw error }
            }
        }
    }

    private func fitPartly(into limit: UInt64) throws(StorageError) {
        do throws(StorageError) {
            try fit(into: limit)
        } catch {
            guard case .noSpace = error else { throw error }
            try fit(into: max(limit, index.valueBytes - min(index.valueBytes, bytesOfNextVictims())))
            try dropDeadSegments()
        }
    }

    /// Number of entries that one frame names on a full disk, so that it fits into the reserve.
    private static let evictedAtOnce = 256

    /// Bytes of the next entries to be evicted: at least one entry with a value, if any.
    fileprivate func bytesOfNextVictims(_ most: Int = ArchiveSection.evictedAtOnce) -> UInt64 {
        var bytes: UInt64 = 0
        var count = 0
        var victims = index.order.victims()
        while count < most || bytes == 0, let victim = index.order.next(&victims) {
            bytes += UInt64(victim.slot.valueBytes)
            count += 1
        }
        return bytes
    }

    /// Begins a new segment if a larger former limit made one long, so that its dead bytes can be reclaimed (S3).
    fileprivate func leaveLongSegment() {
        guard engine.kind != .log else {
            // As long as the log has messages, their files stay anyway.
            if index.entryCount == 0, (try? dropAllMessages()) != nil { try? dropDeadSegments() }
            return
        }
        guard isNewestSegmentLong else { return }
        try? appendBare(.void, inNewSegment: true) { _, _ in }
    }

    /// Applies the descriptor to the index: its last writer may have crashed before doing so. A damaged descriptor changes
    /// nothing. Evicts excess entries if `mayGiveUpEntries`; otherwise the next writer or, on a full disk, the next put does.
    func followDescriptor(mayGiveUpEntries: Bool = true) throws(StorageError) {
        do throws(StorageError) {
            let descriptor = try Descriptor.read(in: engine.folder)
            if descriptor.identity == log.identity { index.setConfiguration(descriptor.configuration) }
        } catch {
            switch error {
            case .corrupted, .system(_, _, SystemCode.missing): break
            default: throw error
            }
        }
        guard mayGiveUpEntries, let limit = engine.diskLimit, index.valueBytes > limit else { return }
        index.touches.drainAll()
        do throws(StorageError) {
            try fitMakingRoom(into: limit)
        } catch {
            guard case .noSpace = error else { throw error }
        }
    }
}

extension ArchiveEngine {
    /// Evicts excess entries, calls `publish` to write the descriptor, and updates the index. After a crash that follows
    /// `publish`, the lock owner stays set, and the next lock holder completes the change
    /// (``followDescriptor(mayGiveUpEntries:)``). If this throws, only evictions remain.
    func adopt(
        _ configuration: ArchiveConfiguration, publish: () throws(StorageError) -> Void
    ) throws(StorageError) {
        if let limit = configuration.diskLimit { try evictInSlices(downTo: limit) }
        let section = try acquire()
        section.drainTouches()
        let hasOtherLimits =
            configuration.diskLimit != index.diskLimit
            || configuration.memoryLimit ?? .max != index.memoryLimit
        if let limit = configuration.diskLimit { try section.fitMakingRoom(into: limit) }
        try publish()
        section.index.setConfiguration(configuration)
        crashPoint(.limitsSet)
        if hasOtherLimits {
            index.publish(
                .resize, .request, tag: 0, bytes: Int(clamping: configuration.diskLimit ?? 0),
                location: .none,
                pid: pid, time: Clock.wall())
        }
        section.leaveLongSegment()
        section.reclaim(forAppended: 0)
        section.compactIfSparse()
        scheduleReclaimIfNeeded()
    }

    /// Evicts most of the excess in parts, each under one hold of the lock. Stops on a full disk (``adopt(_:publish:)``).
    func evictInSlices(downTo limit: UInt64) throws(StorageError) {
        guard kind != .log else { return try dropMessagesInSlices(downTo: limit) }
        while true {
            let section = try acquire()
            section.drainTouches()
            let excess = index.valueBytes - min(index.valueBytes, limit)
            let next = section.bytesOfNextVictims(4 * ArchiveEngine.actionBatch)
            guard excess > next, next > 0 else { return }
            do throws(StorageError) {
                let evicted = try section.evict(downTo: index.valueBytes - next)
                section.compactIfSparse(removed: evicted)
            } catch {
                guard case .noSpace = error else { throw error }
                return
            }
            _ = consume section
            letOthersIn()
            try reclaimInSlices()
        }
    }

    /// The same for the messages of a log, before the descriptor is written, which needs disk space.
    private func dropMessagesInSlices(downTo limit: UInt64) throws(StorageError) {
        do throws(StorageError) {
            while index.valueBytes > limit {
                let before = index.firstMessage
                try acquire().dropMessages(downTo: limit, most: ArchiveEngine.actionBatch)
                guard index.firstMessage != before else { break }
                letOthersIn()
            }
        } catch {
            guard case .noSpace = error else { throw error }
        }
        if hasPendingCompaction { finishPendingCompaction() }
    }
}
