import StorageEngine
import StoreInspection

/// Carries out one effect and says what came of it. Safe from any thread, as far as the source is.
package struct EffectPerformer: Sendable {
    let source: any StoreSource
    let clock: @Sendable () -> Timestamp

    /// Seconds between two reports of progress.
    private static let reportInterval = 0.05

    package init(source: any StoreSource, clock: @escaping @Sendable () -> Timestamp) {
        self.source = source
        self.clock = clock
    }

    /// - Parameter isStopped: asked now and then by long work.
    package func perform(_ effect: Effect, isStopped: @escaping () -> Bool, send: @escaping (Message) -> Void)
    {
        switch effect {
        case .loadStores:
            send(.stores(Result { () throws(SourceError) in try source.stores() }))
        case .loadFigures(let store):
            let result = Result { () throws(SourceError) in try source.figures(store: store) }
            send(.figures(store: store, result, at: clock()))
        case .arrange(let ticket, let request):
            let arranger = Arranger(
                source: source, clock: clock, progress: progress(ticket, isStopped: isStopped, send: send))
            let result = Result { () throws(SourceError) in try arranger.arrange(request) }
            send(.arranged(ticket: ticket, result))
        case .loadRows(let ticket, let arrangement, let range):
            send(.rows(ticket: ticket, Arranger.rows(of: arrangement, in: range)))
        case .loadValue(let purpose, let key, let archive):
            let limit = purpose == .preview ? ValueLoad.previewLimit : ValueContent.decodingLimit
            let result = Result { () throws(SourceError) in
                try ValueLoad.load(key, limit: limit, in: archive, from: source)
            }
            send(.value(purpose, key: key, archive: archive.name, result))
        case .loadBytes(let key, let range, let archive):
            let result = Result { () throws(SourceError) in
                try source.bytes(key, range: range, in: archive)
            }
            send(.bytes(key: key, archive: archive.name, offset: range.lowerBound, result))
        case .checkValue(let key, let archive):
            let result = Result { () throws(SourceError) in
                try source.entry(key, in: archive)
            }
            send(.entry(key: key, archive: archive.name, result))
        case .collect(let ticket, let arrangement):
            let report = progress(ticket, isStopped: isStopped, send: send)
            send(.collected(ticket: ticket, marks(of: arrangement, report)))
        case .collectIdle(let ticket, let before, let archive):
            let report = progress(ticket, isStopped: isStopped, send: send)
            let result = Result { () throws(SourceError) in
                idle(in: try source.listing(in: archive), before: before, report)
            }
            send(.idle(ticket: ticket, result))
        case .loadEvents(let store, let requests):
            let pages = requests.compactMap { request in
                (try? source.events(in: ArchiveAddress(request.archive, in: store), from: request.from)).map {
                    EventPage(archive: request.archive, $0)
                }
            }
            send(.events(store: store, pages))
        case .loadBiography(let key, let archive):
            let result = Result { () throws(SourceError) in
                try source.biography(of: key, in: archive)
            }
            send(.biography(key: key, archive: archive.name, result))
        case .loadMessages(let archive, let range, let end, let nextEvent):
            let result = Result { () throws(SourceError) in
                try source.messages(
                    count: range.count, behind: end - 1 - range.lowerBound, nextEvent: nextEvent,
                    in: archive)
            }
            send(.messages(archive: archive.name, range, result))
        case .loadProperties(let archive):
            let result = Result { () throws(SourceError) in
                try source.properties(in: archive)
            }
            send(.properties(archive: archive.name, result))
        case .query(let ticket, let request):
            let report = progress(ticket, isStopped: isStopped, send: send)
            let result = Result { () throws(SourceError) in try source.query(request, progress: report) }
            send(.answered(ticket: ticket, result))
        case .export(let ticket, let request, let path):
            let report = progress(ticket, isStopped: isStopped, send: send)
            let result = Result { () throws(SourceError) in
                try source.export(request, to: path, progress: report)
            }
            send(.exported(ticket: ticket, path: path, result))
        case .loadReversible(let purpose, let archive):
            let result = Result { () throws(SourceError) in
                try source.reversible(in: archive)
            }
            send(.reversible(purpose, archive: archive.name, result))
        case .change(let ticket, let change, let targets, let archive):
            let report = progress(ticket, isStopped: isStopped, send: send)
            let result = Result { () throws(SourceError) in
                try source.carryOut(change, on: targets, in: archive) { done in
                    report(Double(done) / Double(max(1, targets.count)))
                }
            }
            send(.changed(ticket: ticket, change, archive: archive.name, result))
        case .undo(let ticket, let action, let archive):
            let report = progress(ticket, isStopped: isStopped, send: send)
            let result = Result { () throws(SourceError) in
                try source.undo(action.id, in: archive, checkpoint: report)
            }
            send(.undone(ticket: ticket, result))
        case .clearLog(let ticket, let archive):
            let result = Result { () throws(SourceError) in
                try source.clearLog(in: archive)
            }
            send(.cleared(ticket: ticket, archive: archive.name, result))
        case .stop, .quit, .startDemo: break
        }
    }

    /// - Returns: nil when it was stopped.
    private func marks(of arrangement: Arrangement, _ report: (Double) -> Bool) -> Collected<Marks>? {
        var marks = Collected(Marks())
        for row in 0..<arrangement.count {
            if row % 1024 == 0, !report(Double(row) / Double(arrangement.count)) { return nil }
            marks.take(arrangement.listing, arrangement.rows.index(atRow: row)) { $0.add($1) }
        }
        return marks
    }

    /// The entries of a listing that were last accessed before a moment: its end, as it is in LRU order.
    /// - Returns: nil when it was stopped.
    private func idle(
        in listing: any EntryListing, before: Timestamp, _ report: (Double) -> Bool
    ) -> Collected<[Target]>? {
        var first = 0
        var end = listing.count
        while first < end {
            let middle = (first + end) / 2
            if listing.accessed(at: middle) < before { end = middle } else { first = middle + 1 }
        }
        var targets = Collected([Target]())
        targets.entries.reserveCapacity(listing.count - first)
        for index in first..<listing.count {
            if index % 1024 == 0, !report(Double(index - first) / Double(listing.count - first)) {
                return nil
            }
            targets.take(listing, index) { $0.append($1) }
        }
        return targets
    }

    private func progress(
        _ ticket: Int, isStopped: @escaping () -> Bool, send: @escaping (Message) -> Void
    ) -> (Double) -> Bool {
        var last = clock()
        return { share in
            let now = clock()
            if now.seconds(since: last) >= EffectPerformer.reportInterval {
                last = now
                send(.progress(ticket: ticket, share))
            }
            return !isStopped()
        }
    }
}
