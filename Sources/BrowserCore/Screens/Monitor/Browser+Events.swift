import StorageEngine
import StoreInspection

extension Browser {
    /// Reads the new events of all archives, on every screen, during a pause and in the background, so that history and verdicts don't
    /// depend on the screen.
    /// - Parameter isForced: also shows them on a paused screen.
    static func loadEvents(
        _ model: inout Model, of archives: [ArchiveSample], isForced: Bool = false
    ) -> [Effect] {
        guard let store = model.store, model.events.pending == nil else { return [] }
        let changing = model.changing
        let wanted = archives.compactMap { archive -> EventReading? in
            guard archive.problem == nil else { return nil }
            let address = ArchiveAddress(archive.name, in: store)
            let next = model.events.next[ExactText(archive.name)]
            let isBusy = model.events.busy.contains(ExactText(archive.name))
            let isChanging = changing.contains(address)
            guard isBusy || isChanging || archive.nextEvent != next ?? 0 else { return nil }
            // In the background it reads once, because the stores' reads share a queue.
            return EventReading(
                archive: address, from: next, isBusy: isBusy && !model.isInBackground || isChanging)
        }
        guard !wanted.isEmpty else { return [] }
        let ticket = model.ticket()
        model.events.pending = ticket
        let names = wanted.map { $0.archive.name + ($0.from.map { " from \($0)" } ?? "") }
        let title = "load events of " + names.joined(separator: ", ")
        let effect = Effect.ask(title, ticket: ticket) { context in
            EventReading.pages(wanted, each: changing.isEmpty ? 0.01 : 0.001, context)
        } then: { model, result in
            guard model.store == store, case .success(let pages) = result else { return [] }
            model.events.pending = nil
            let change = model.events.add(pages)
            if model.pausedSince == nil { model.monitor?.match(model.events, after: change) }
            if isForced { model.copyForPause() }
            if model.changing.isEmpty, model.isInBackground || model.events.busy.isEmpty { return [] }
            return loadEvents(&model, of: archives)
        }
        return [effect.waiting]
    }

    /// Adds events for the archives that the store no longer has. A server's database is absent while it is empty.
    static func noteRemovals(_ model: inout Model, _ figures: StoreFigures, at moment: Timestamp) {
        guard let before = model.archives.figures, figures.server == nil else { return }
        let present = Set(figures.archives.map { ExactText($0.name) })
        let renaming = model.archives.renaming
        var removals: [StoreEvent] = []
        for name in before.archives.map(\.name) where !present.contains(ExactText(name)) {
            // The figures may be older than the renaming.
            if renaming.map({ [$0.old, $0.new].contains(ExactText(name)) }) == true { continue }
            removals.append(StoreEvent(archive: name, .dropped, at: moment))
        }
        if let renaming, present.contains(renaming.new) {
            model.archives.renaming = nil
            if !present.contains(renaming.old) {
                let (old, new) = (renaming.old.text, renaming.new.text)
                removals.append(StoreEvent(archive: old, .renamed(to: new), at: moment))
            }
        }
        for removal in removals {
            let change = model.events.add(removal)
            model.monitor?.match(model.events, after: change)
        }
    }

    static func missEvents(_ model: inout Model) {
        guard model.layout.events.isEmpty else { return }
        model.say("No space for the event pane; \(keyName(model, .monitor)) opens the events.", seconds: 4)
    }
}

/// The position of the next event to read of an archive.
private struct EventReading: Sendable {
    let archive: ArchiveAddress
    var from: UInt64?
    let isBusy: Bool

    /// Reads new events. Busy archives are read for a refresh interval, every `pause` seconds, so that a burst doesn't overwrite
    /// unread events: this browser's changes store some hundred events in a millisecond.
    static func pages(
        _ readings: [EventReading], each pause: Double, _ context: QuestionContext
    ) -> [EventLog.Page] {
        var pages: [EventLog.Page] = []
        var count = 0
        func read(_ reading: EventReading) -> EventReading? {
            var reading = reading
            guard let batch = try? context.source.events(in: reading.archive, from: reading.from) else {
                return nil
            }
            pages.append((reading.archive.name, batch))
            count += batch.events.count
            reading.from = batch.next
            return reading.isBusy ? reading : nil
        }
        var busy = readings.compactMap(read)
        var left = Int(Browser.refreshInterval / pause)
        while !busy.isEmpty, left > 0, count < EventLog.minimum, !context.isStopped() {
            left -= 1
            context.pause(pause)
            busy = busy.compactMap(read)
        }
        return pages
    }
}
