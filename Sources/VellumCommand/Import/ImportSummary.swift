extension Importer.Outcome {
    /// The final report. `before` and `after` distinguish new entries from overwritten ones.
    func summary(
        archive: String, seconds: Double, from before: ArchiveStatus, to after: ArchiveStatus
    ) -> String {
        let evicted = after.evictions &- before.evictions
        let removed = [
            evicted, after.expirations &- before.expirations, after.deletes &- before.deletes,
        ].reduce(0) { $0 + Int(clamping: $1) }
        let new = min(imported, max(0, after.entries - before.entries + removed))
        let replaced = imported - new
        let records = Figures.count(imported, "record", "records") + ", " + Figures.bytes(bytes)
        var text =
            "imported \(replaced == 0 ? Figures.amount(imported, bytes: bytes) : records) into \(archive) in "
            + "\(Figures.fixed(seconds, digits: 2)) s"
        if seconds > 0 { text += ", \(Figures.rate(Double(imported) / seconds)) a second" }
        if replaced > 0 {
            text +=
                "; \(Figures.count(new, "new entry", "new entries")), "
                + "\(Figures.count(replaced, "entry", "entries")) replaced"
        }
        if evicted > 0 { text += "; \(Figures.count(evicted, "entry", "entries")) evicted" }
        if byteStrings > 0 {
            text += "; \(Figures.count(byteStrings, "text", "texts")) of the form h'00ff' read as bytes"
        }
        if skipped > 0 { text += "; \(Figures.count(skipped, "record", "records")) skipped" }
        if isCut { text += "; the input ended within a record" }
        if isStopped { text += "; stopped" }
        return text
    }
}
