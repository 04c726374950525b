/// Limits: keeping them, and changing them together with the rest of the configuration.
extension ArchiveSection {
    /// Removes what is first to go until what is there fits.
    func fit(into limit: UInt64) throws(StorageError) {
        if engine.kind == .log { try dropMessages(downTo: limit) } else { try evict(downTo: limit) }
    }

    /// As ``fit(into:)``, on a full disk too: there the entries go in small parts, and what is dead is removed after
    /// each for the room of the next; where that frees nothing, the oldest segment goes with what is in it. Needs that
    /// pending uses are applied.
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
                guard case .noSpace = error, try giveUpOldestSegment() else { throw error }
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

    /// Entries that one frame names on a full disk: it fits into the reserve.
    private static let evictedAtOnce = 256

    /// What the next entries that go make up, more than nothing.
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

    /// Begins a new segment where the newest one's file was made long for a larger limit: it would keep its room until it is
    /// full (S3). Where a full disk has none for another, it stays.
    fileprivate func leaveLongSegment() {
        let head = index.head
        guard engine.kind != .log, head != .none, let pin = try? log.pinIfPresent(head.segment) else {
            return
        }
        let unused = log.view(pin).bytes - head.offset
        log.unpin(pin)
        guard unused > SegmentLayout.slackBytes(target: engine.segmentTarget) else { return }
        try? appendBare(.void, inNewSegment: true) { _, _ in }
    }

    /// Brings the index in line with the descriptor, which is the truth: whoever changed it last may have died before
    /// the index followed. A damaged descriptor says nothing, and then the index's word holds. What no longer fits
    /// goes if `mayGiveUpEntries`, or else with the next writer that opens; where there is no room to say so, the next put does it.
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
        guard mayGiveUpEntries, let limit = index.diskLimit, index.valueBytes > limit else { return }
        index.touches.drainAll()
        do throws(StorageError) {
            try fitMakingRoom(into: limit)
        } catch {
            guard case .noSpace = error else { throw error }
        }
    }
}

extension ArchiveEngine {
    /// Goes over to another configuration: what no longer fits goes, `publish` makes the
    /// descriptor say so, and the index follows. Whoever dies behind `publish` leaves the section's marker, and the next
    /// holder of the lock does the rest (``ArchiveSection/followDescriptor()``). When this throws, the old configuration
    /// holds, and what was evicted for the new one is gone.
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
            index.note(
                .resize, .request, tag: 0, bytes: Int(clamping: configuration.diskLimit ?? 0),
                location: .none,
                pid: pid, time: Clock.wall())
        }
        section.leaveLongSegment()
        section.reclaim(forAppended: 0)
        section.compactIfSparse()
        noteRoom()
    }

    /// Evicts most of what has to go, some under each hold of the lock; where the disk is full, whoever goes over to the
    /// smaller limit finds a way.
    private func evictInSlices(downTo limit: UInt64) throws(StorageError) {
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

    /// The same for the messages of a log, whose files go before the descriptor needs room.
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
        if owesRoom.load(ordering: .relaxed) { payForRoom() }
    }
}
