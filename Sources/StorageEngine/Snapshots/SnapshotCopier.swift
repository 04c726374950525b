struct SnapshotCopier: ArchiveOperation {
    let engine: ArchiveEngine

    /// Entries or messages copied under one hold of the lock.
    private static let copiedAtOnce = 256

    /// Copies a snapshot with all metadata and recency into this empty archive. Passes damaged entries to `damaged`.
    /// - Returns: whether all entries were copied; `progress` gets the number done, and returns `false` to stop.
    func copy(
        _ snapshot: ArchiveSnapshot, damaged: (StorageError) -> Void, progress: (Int) -> Bool
    ) throws(StorageError) -> Bool {
        // The least recently accessed entry first; messages in their order.
        let order = snapshot.kind == .log ? Array(0..<snapshot.count) : Array((0..<snapshot.count).reversed())
        for start in stride(from: 0, to: order.count, by: SnapshotCopier.copiedAtOnce) {
            guard progress(start) else { return false }
            let section = try engine.acquire()
            for number in order[start..<min(start + SnapshotCopier.copiedAtOnce, order.count)] {
                let frame: Frame
                do throws(StorageError) {
                    frame = try snapshot.frame(at: number)
                } catch {
                    damaged(error)
                    continue
                }
                if engine.kind == .log {
                    try copy(section, message: frame)
                } else {
                    try copy(section, frame, snapshot.item(at: number))
                }
            }
        }
        return progress(order.count)
    }

    private func copy(_ section: borrowing ArchiveSection, _ frame: Frame, _ item: SnapshotItem)
        throws(StorageError)
    {
        var options = frame.options
        options.deadline = item.deadline
        var content = FrameContent(
            kind: .move, encoding: frame.encoding, sequence: frame.sequence, recency: item.recency,
            time: item.accessed, created: frame.created, key: frame.key, value: frame.value)
        let size = options.bytes + FrameExtension.partBytes(item.hits == 0 ? 0 : 4)
        try section.withExtension(bytes: size) { (writer) throws(StorageError) in
            options.write(to: &writer)
            if item.hits > 0, let field = writer.part(.hits, bytes: 4) {
                field.storeBytes(of: item.hits, as: UInt32.self)
            }
            content.extensionBytes = writer.written
            try section.appendReplayed(content)
        }
    }

    private func copy(_ section: borrowing ArchiveSection, message frame: Frame) throws(StorageError) {
        try section.appendReplayed(
            FrameContent(
                kind: .message, sequence: frame.sequence, recency: frame.recency, time: frame.time,
                created: Int64(bitPattern: section.index.firstMessage.raw), value: frame.value))
    }
}
