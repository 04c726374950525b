struct BatchStep {
    var isPut: Bool
    var tag: UInt32
    /// Number of the entry to be changed; 0: a new entry.
    var number: UInt32
    var location: Location
    var old = Location.none
}

/// A batch whose frames are all written after the log tail. One atomic store publishes it, so that readers never see a part of
/// it: OnDiskFormat, "Batches".
struct BatchPublication {
    var first: Location
    var bytes: Int
    var steps: [BatchStep]
    var victims: [UInt32]
}

extension BatchPublication {
    /// Makes the frames of a batch part of the archive by one atomic store. Slots for new entries must be reserved.
    func publish(_ section: borrowing ArchiveSection, _ pin: SegmentLog.Pin) {
        let index = section.index
        var steps = steps
        // From here on, readers that find a frame of the batch use the entry's previous frame.
        index.setBatchOpen(first)
        crashPoint(.batchMarked)
        for place in steps.indices {
            if let slot = index.entry(steps[place].number) {
                let (old, new) = (slot.location, steps[place].location)
                steps[place].old = old
                slot.name(new)
                index.table.setCell(of: steps[place].number, slot, new, replacing: old)
            } else if steps[place].isPut {
                steps[place].number = addUnpublished(section, steps[place], pin)
            }
            crashPoint(.batchEntryChanged)
        }
        // Stored before `batchOpen` is cleared: the batch must not count while slots belong to the previous frames.
        index.setBatchDone(first)
        crashPoint(.batchDecided)
        index.setBatchOpen(.none)
        crashPoint(.batchCommitted)
        for step in steps {
            fillPublished(section, step, pin)
            crashPoint(.batchEntryFilled)
        }
        for number in victims {
            section.remove(number)
            crashPoint(.batchVictimRemoved)
        }
        section.commit(first, bytes: bytes)
        crashPoint(.batchHeadMoved)
        index.setBatchDone(.none)
    }

    private func content(
        _ section: borrowing ArchiveSection, at step: BatchStep, _ pin: SegmentLog.Pin
    ) -> FrameContent? {
        let engine = section.engine
        return engine.log.frame(pin, at: step.location.offset).map(engine.content)
    }

    /// Fills slot and cell of a new entry, but doesn't link it into the order of recency.
    private func addUnpublished(
        _ section: borrowing ArchiveSection, _ step: BatchStep, _ pin: SegmentLog.Pin
    ) -> UInt32 {
        let index = section.index
        guard let content = content(section, at: step, pin) else { return 0 }
        index.beginStructureChange()
        let number = index.numbers.allocate()
        if let slot = index.entry(number) {
            section.fill(number, slot, content, frameBytes: content.frameBytes)
            slot.setRecency(content.recency)
            slot.setNewer(0)
            slot.setOlder(0)
            slot.setTag(step.tag)
            slot.setLocation(step.location)
            index.residency.forget(number)
            index.table.insert(number, slot)
        }
        index.endStructureChange()
        return number
    }

    private func fillPublished(
        _ section: borrowing ArchiveSection, _ step: BatchStep, _ pin: SegmentLog.Pin
    ) {
        let index = section.index
        guard let slot = index.entry(step.number) else { return }
        if step.old != .none { index.adjustLive(step.old, by: -Int(slot.frameBytes)) }
        guard let content = content(section, at: step, pin) else { return index.declareDamaged() }
        // A value on disk, or a deletion, replaces the key's memory-only entries.
        if slot.isMemoryOnly {
            section.removeMemoryOnly(of: content.key, tag: step.tag, sparing: step.number)
        }
        guard step.isPut else {
            index.adjustLive(step.location, by: Int(slot.frameBytes))
            return section.remove(step.number)
        }
        let frameBytes = content.frameBytes
        if step.old != .none {
            let change = content.value.count - Int(slot.valueBytes)
            index.adjust(.valueBytes, by: change)
            index.order.resize(step.number, by: change)
            section.fill(step.number, slot, content, frameBytes: frameBytes)
            index.table.setLocation(step.number, slot, step.location)
            index.residency.forget(step.number)
            index.order.access(step.number, slot, stamp: content.recency)
        } else {
            if index.tombstoneCount != 0 { section.markOverwritten(content.key, tag: step.tag) }
            index.adjust(.valueBytes, by: content.value.count)
            index.adjust(.entryCount, by: 1)
            index.order.add(step.number, slot)
        }
        index.adjustLive(step.location, by: frameBytes)
    }
}
