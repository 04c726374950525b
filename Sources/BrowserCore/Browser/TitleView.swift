import StoreInspection
import TerminalKit

enum TitleView {
    static func draw(_ model: Model, into frame: inout Frame, in rect: Rect) {
        let look = model.look
        var right: [Span] = []
        if model.store != nil {
            let cost = model.cost
            // Without space the label is dropped before the figures.
            right = [
                Span("browser: ", look[.titleDim]),
                Span(
                    "\(model.isOfServer ? "lookups" : "accesses") \(Figures.count(cost.accesses)), "
                        + "writes \(Figures.count(cost.writes)), "
                        + "lock \(milliseconds(cost.longestLock)) ms  ", look[.titleDim]),
            ]
        }
        if let alarm = model.ringing.first {
            let more = model.ringing.count > 1 ? " +\(model.ringing.count - 1)" : ""
            let name = look.cut(alarm, to: max(8, rect.columns / 3), .middle)
            right += [Span(" ALARM \(name)\(more) ", look[.badge]), Span(" ")]
        }
        if model.archives.problem != nil, model.size.columns >= 40, let read = model.archives.read {
            right.append(Span("read \(Figures.time(read)) ", look[.titleWarning]))
        }
        right.append(pace(model))
        if model.isReadOnly { right += [Span(" "), Span(" READ ONLY ", look[.badge])] }
        // The path is cut at its start; pace and badges are never cut.
        let reserved = right.suffix(model.store == nil ? 3 : right.count - 2)
            .reduce(0) { $0 + TextWidth.width(of: $1.text) }
        let available = max(6, rect.columns - reserved - 2)
        let path = look.cut(
            breadcrumb(model, columns: rect.columns, available: available), to: available, .start)
        Bar(left: [Span(" "), Span(path)], right: right).draw(into: &frame, in: rect, look: look)
    }

    private static func breadcrumb(_ model: Model, columns: Int, available: Int) -> String {
        var path = model.parts.path(model)
        // A long key keeps both ends.
        let last = model.look.cut(
            path.popLast() ?? "", to: columns < 40 ? available : max(1, available - 4), .middle)
        if columns < 40 { return last }
        path.append(last)
        return (["vellum"] + path).joined(separator: model.look.glyphs == .ascii ? " > " : " › ")
    }

    static func storeName(_ model: Model) -> String {
        let name = model.store.map(StorePath.name) ?? "/"
        guard model.openStores.count > 1, let number = model.store.flatMap(model.number) else { return name }
        return "\(number):\(name)"
    }

    /// The archive's name, with the store's name if several stores are open.
    static func name(of archive: ArchiveAddress, _ model: Model) -> String {
        model.openStores.count > 1 ? "\(storeName(model))/\(archive.name)" : archive.name
    }

    private static func milliseconds(_ seconds: Double) -> String {
        Figures.decimal(seconds * 1000, digits: seconds < 0.01 ? 1 : 0)
    }

    /// Whether the archive on the screen was removed from the store.
    static func isArchiveRemoved(_ model: Model) -> Bool {
        guard model.parts.isOfOneArchive, model.archives.figures != nil,
            let archive = model.parts.archive(model), model.address(archive.name) == archive
        else { return false }
        return model.sample(archive) == nil
    }

    private static func pace(_ model: Model) -> Span {
        let look = model.look
        if model.archives.problem != nil { return Span(" UNREACHABLE ", look[.badge]) }
        if let silence = model.silence {
            return Span("no answer for \(Figures.duration(silence)) ", look[.titleWarning])
        }
        if isArchiveRemoved(model) { return Span(" REMOVED ", look[.badge]) }
        // Groups and query results may be newer than the pause.
        if [.groups, .query].contains(model.screen), let age = model.parts.age(model),
            age.moment > model.shownNow
        {
            let seconds = Figures.duration(model.now.seconds(since: age.moment))
            return Span("\(age.verb) \(seconds) ago ", look[.titleWarning])
        }
        switch model.pace {
        // A sign after each key press would flicker.
        case .live, .frozen(..<1):
            if let age = model.parts.age(model) {
                return Span(
                    "\(age.verb) \(Figures.duration(age.seconds)) ago ",
                    look[age.seconds < 1 ? .titleGood : .titleWarning])
            }
            // Only the order of recency has the newest row at the top.
            let isFollowing =
                model.parts.follows(model) && (model.screen != .entries || model.entries?.order == .recency)
            return Span(
                "\(look.glyphs.marked) \(isFollowing ? "following" : "live") ",
                look[.titleGood])
        case .frozen(let seconds): return Span("frozen \(Figures.duration(seconds)) ", look[.titleWarning])
        case .paused(let seconds): return Span(" PAUSED \(Figures.duration(seconds)) ", look[.badge])
        }
    }
}
