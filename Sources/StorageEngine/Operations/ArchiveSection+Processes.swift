/// Lines of the process table, which processes give back when they leave, or others for those that died.
extension ArchiveSection {
    /// Gives back the lines of processes that ended without doing so, with what only they held: all lines, where
    /// nobody else has the archive open.
    func cleanUpAfterTheDead(isAlone: Bool) {
        let liveness = engine.liveness
        for slot in index.processes.attached where isAlone || !liveness.isAlive(slot) { leave(slot) }
    }

    /// Gives a line of the process table back, with what only that process held.
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
                index.note(
                    .expiry, .processEnded, tag: tag, bytes: bytes, location: location, pid: engine.pid,
                    time: Clock.wall())
            }
        }
        index.detach(slot)
    }
}
