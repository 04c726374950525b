import StorageEngine
import StoreInspection

extension Browser {
    private static func watched(_ model: Model) -> [ArchiveSample] {
        model.archives.archives.filter { $0.problem == nil && model.parts.shows(eventsOf: $0.name, model) }
    }

    /// Asks for the events that came since the last look, of archives that have any.
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
            // An archive that can't be read has no page.
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

    /// Says where events are to be seen that have no room on the screen.
    static func missEvents(_ model: inout Model) {
        guard model.layout.events.isEmpty else { return }
        model.say("No room for events here; \(keyName(model, .monitor)) gives them a screen.", seconds: 4)
    }
}
