/// Slots of the process table. Processes release their slots at closing; other processes release those of crashed ones.
extension ArchiveSection {
    /// Clears the slots of processes that ended without closing, or all with `isAlone`, and removes entries that only these held.
    func releaseDeadProcessSlots(isAlone: Bool) {
        let liveness = engine.liveness
        for slot in index.processes.attached where isAlone || !liveness.isAlive(slot) { leave(slot) }
    }

    func leave(_ slot: ProcessSlot) {
        if slot.memoryBytes != 0 || index.residency.isUsed {
            for number in 1...max(1, index.usedEntries)
            where index.residency[number] & 1 << UInt64(slot.line) != 0 {
                index.residency.unmark(number, line: slot.line)
                guard let entry = index.entry(number), entry.isLive, entry.isMemoryOnly,
                    index.residency[number] == 0
                else { continue }
                let (tag, bytes, location) = (entry.tag, Int(entry.shownBytes), entry.location)
                remove(number)
                index.publish(
                    .expiry, .processEnded, tag: tag, bytes: bytes, location: location, pid: engine.pid,
                    time: Clock.wall())
            }
        }
        index.detach(slot)
    }
}
