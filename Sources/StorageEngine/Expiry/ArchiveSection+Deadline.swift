extension ArchiveSection {
    /// Changes an entry's expiry time without writing its value (S8). With `sequence`, only if that stored the present entry.
    func changeDeadline(
        of key: UnsafeRawBufferPointer, to deadline: Int64, ifSequence sequence: UInt64?, cause: EventCause,
        group: UInt32 = 0, evenExpired: Bool = false
    ) throws(StorageError) -> ConditionalDelete {
        let tag = UInt32(truncatingIfNeeded: engine.hash(key))
        guard let entry = try findToChange(key, tag: tag) else { return .absent }
        var isSame = sequence == nil || entry.frame.sequence == sequence
        let isExpired = engine.isExpired(entry)
        engine.unpin(entry)
        var numbers = [entry.number]
        if entry.slot.isMemoryOnly {
            // Each process may have one of this key; without a sequence all of them are changed.
            numbers = try engine.entries(engine.memoryOnlyNumbers(of: key, tag: tag), ofSequence: sequence)
            isSame = !numbers.isEmpty
        }
        guard !isExpired || evenExpired else { return .absent }
        guard isSame else { return .changed }
        let now = Clock.read()
        let old = entry.slot.deadline
        let size = 2 * FrameExtension.partBytes(Deadline.bytes) + FrameExtension.partBytes(RemovalNote.bytes)
        try withExtension(bytes: size) { (writer) throws(StorageError) in
            if deadline != Deadline.never { writer.append(.deadline, Deadline(boot: deadline, now: now)) }
            if group != 0 {
                writer.append(RemovalNote(group: group, cause: cause, kind: .deadline, time: now.wall))
                if old != Deadline.never { writer.append(.previousDeadline, Deadline(boot: old, now: now)) }
            }
            try withinGrace(of: group) { () throws(StorageError) in
                try appendBare(.deadline, key: key, extensionBytes: writer.written) { location, time in
                    crashPoint(.deadlineWritten)
                    for number in numbers {
                        if let slot = index.entry(number) { setDeadline(of: number, slot, to: deadline) }
                    }
                    if group != 0 {
                        countRemoval(
                            RemovalNote(group: group, cause: cause, kind: .deadline, time: now.wall),
                            first: location,
                            bytes: UInt64(entry.slot.valueBytes))
                    }
                    crashPoint(.deadlineSet)
                    index.publish(
                        .deadline, cause, tag: tag, bytes: Int(entry.slot.shownBytes), location: location,
                        pid: engine.pid, time: time, key: key)
                }
            }
        }
        reclaim(forAppended: Frame.bytes(key: key.count, extension: size, value: 0))
        return .deleted
    }

    func setDeadline(of number: UInt32, _ slot: ChangingSlot, to deadline: Int64) {
        if deadline != Deadline.never { index.deadlines.expect(deadline, of: number) }
        slot.deadline = deadline
        // Updates the cell too, which has the bit that sends look-ups to the slot.
        index.table.setLocation(number, slot, slot.location)
    }
}
