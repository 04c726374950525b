import StorageEngine
import StoreInspection

extension Browser {
    private static func watched(_ model: Model) -> [ArchiveSample] {
        model.archives.archives.filter { $0.problem == nil && model.parts.shows(eventsOf: $0.name, model) }
    }

    /// Requests the new events of the watched archives.
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

    /// Names the screen of events where the pane doesn't fit.
    static func missEvents(_ model: inout Model) {
        guard model.layout.events.isEmpty else { return }
        model.say("No room for the event pane; \(keyName(model, .monitor)) opens the events.", seconds: 4)
    }
}
