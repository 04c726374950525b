import StorageEngine
import StoreInspection

extension Browser {
    private static func watched(_ model: Model) -> [ArchiveSample] {
        model.archives.archives.filter { $0.problem == nil && model.parts.shows(eventsOf: $0.name, model) }
    }

    static func loadEvents(_ model: inout Model) -> [Effect] {
        guard let store = model.store, !model.events.isPending else { return [] }
        var wanted: [(archive: ArchiveAddress, from: UInt64?)] = []
        for archive in watched(model) {
            let next = model.events.next[archive.name]
            guard archive.nextEvent != next ?? 0 else { continue }
            wanted.append((ArchiveAddress(archive.name, in: store), next))
        }
        guard !wanted.isEmpty else { return [] }
        let asked = wanted
        model.events.isPending = true
        let names = asked.map { $0.archive.name + ($0.from.map { " from \($0)" } ?? "") }
        return .ask("load events of " + names.joined(separator: ", ")) { context in
            asked.compactMap { archive, from in
                (try? context.source.events(in: archive, from: from)).map {
                    (archive.name, $0)
                }
            }
        } then: { model, result in
            guard model.store == store, case .success(let pages) = result else { return [] }
            model.events.isPending = false
            let start = model.events.add(pages)
            model.monitor?.match(model.events, from: start)
            return []
        }
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
            let start = model.events.add(removal)
            model.monitor?.match(model.events, from: start)
        }
    }

    static func missEvents(_ model: inout Model) {
        guard model.layout.events.isEmpty else { return }
        model.say("No room for the event pane; \(keyName(model, .monitor)) opens the events.", seconds: 4)
    }
}
