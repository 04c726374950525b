extension ArchiveRepair {
    /// Keeps the old file even if most of it is blank: under another name it takes no more space.
    mutating func giveOwnLength(_ log: SegmentLog, _ number: UInt32) throws(StorageError) {
        guard let problem = try log.lengthProblem(of: number), let pin = try log.pinIfPresent(number) else {
            return
        }
        let name = SegmentHeader.fileName(number)
        let new = name + ".new"
        try folder.unlink(new)
        try newFile(new) { (file) throws(StorageError) in
            defer { log.unpin(pin) }
            let view = log.view(pin)
            let end = min(view.bytes, (view.writtenEnd + SegmentLayout.reserveBytes + 4095) & ~4095)
            try file.extend(from: 0, to: (end + 4095) & ~4095)
            for offset in stride(from: 0, to: end, by: 1 << 20) {
                try file.write(view.copy(offset..<min(offset + 1 << 20, end)), at: offset)
            }
        }
        let kept = try DamagedFile.freeName(for: name, in: folder)
        try folder.link(name, as: kept)
        try folder.rename(new, to: name)
        // The mappings still show the old file.
        log.releaseUnused()
        report("\(problem); it now has a file of the right length, and the old one is kept as \(kept)")
    }
}
