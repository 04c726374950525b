struct LimitChange: ArchiveOperation {
    let engine: ArchiveEngine

    /// Evicts excess entries, calls `publish` to write the descriptor, and updates the index. After a crash that follows
    /// `publish`, the lock owner stays set, and the next lock holder completes the change
    /// (``followDescriptor(mayEvict:)``). If this throws, only evictions remain.
    func adopt(
        _ configuration: ArchiveConfiguration, publish: () throws(StorageError) -> Void
    ) throws(StorageError) {
        if let limit = configuration.diskLimit { try evictInSlices(downTo: limit) }
        let section = try engine.acquireDrained()
        let hasOtherLimits = !index.hasLimits(of: configuration)
        if let limit = configuration.diskLimit { try section.fitEvenOnFullDisk(into: limit) }
        try publish()
        section.adopt(configuration)
        crashPoint(.limitsSet)
        if hasOtherLimits {
            engine.publish(.resize, .request, bytes: Int(clamping: configuration.diskLimit ?? 0))
        }
        section.leaveLongSegment()
        section.reclaim(forAppended: 0)
        section.compactIfSparse()
        SpaceBudget(engine).scheduleReclaimIfNeeded()
    }

    /// Evicts most of the excess in parts, each under one hold of the lock. Stops on a full disk (``adopt(_:publish:)``).
    func evictInSlices(downTo limit: UInt64) throws(StorageError) {
        guard engine.kind != .log else { return try dropMessagesInSlices(downTo: limit) }
        while true {
            let section = try engine.acquireDrained()
            let excess = Int(index.valueBytes - min(index.valueBytes, limit))
            let victims = section.index.order.victims(toFree: excess, most: 4 * ArchiveEngine.actionBatch)
            guard victims.bytes < excess, victims.count > 0 else { return }
            let done: Void? = try StorageError.nilIf(\.isNoSpace, section.evict(victims))
            guard done != nil else { return }
            section.compactIfSparse(removed: victims.count)
            section.yieldLock()
            try LogCleaner(engine).reclaimInSlices()
        }
    }

    /// Drops the excess messages of a log in parts, before the descriptor is written, which needs disk space.
    private func dropMessagesInSlices(downTo limit: UInt64) throws(StorageError) {
        _ = try StorageError.ignoring(\.isNoSpace) { () throws(StorageError) in
            while index.valueBytes > limit {
                let before = index.firstMessage
                try MessageWriter(engine).dropMessages(
                    engine.acquire(), downTo: limit, most: ArchiveEngine.actionBatch)
                guard index.firstMessage != before else { break }
                engine.yieldLock()
            }
        }
        if LogCleaner(engine).hasPendingCompaction { LogCleaner(engine).finishPendingCompaction() }
    }
}
