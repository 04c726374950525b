import StorageEngine
import StoreInspection
import TerminalKit

/// Events as they come, and what became of a key.
extension Browser {
    /// The archives whose events are in view.
    private static func watched(_ model: Model) -> [ArchiveSample] {
        model.archives.archives.filter { $0.problem == nil && model.parts.shows(eventsOf: $0.name, model) }
    }

    /// Asks for the events that came since the last look, of archives that have any.
    static func loadEvents(_ model: inout Model) -> [Effect] {
        guard let store = model.store, !model.events.isPending else { return [] }
        let requests = watched(model).compactMap { archive -> EventRequest? in
            let next = model.events.next[archive.name]
            guard archive.nextEvent != next ?? 0 else { return nil }
            return EventRequest(archive: archive.name, from: next)
        }
        guard !requests.isEmpty else { return [] }
        model.events.isPending = true
        return [.loadEvents(store: store, requests)]
    }

    static func loaded(_ model: inout Model, _ store: String, events pages: [EventPage]) -> [Effect] {
        guard store == model.store else { return [] }
        model.events.isPending = false
        let start = model.events.add(pages)
        model.monitor?.match(model.events, from: start)
        return []
    }

    static func toggleEvents(_ model: inout Model) -> [Effect] {
        let isShown: Bool
        if model.screen == .archives {
            model.archives.showsEvents.toggle()
            isShown = model.archives.showsEvents
        } else {
            model.entries?.showsEvents.toggle()
            isShown = model.entries?.showsEvents == true
        }
        if isShown, model.layout.events.isEmpty {
            model.say("No room for events here; \(keyName(model, .monitor)) gives them a screen.", seconds: 4)
        }
        return loadEvents(&model)
    }

    // MARK: An entry's past

    static func loadBiography(_ model: inout Model) -> [Effect] {
        guard let value = model.value, let store = model.store, !value.isBiographyPending else { return [] }
        model.value?.isBiographyPending = true
        return [.loadBiography(key: value.key, in: ArchiveAddress(value.archive, in: store))]
    }

    static func loaded(
        _ model: inout Model, key: String, archive: String, biography result: Result<KeyHistory, SourceError>
    ) -> [Effect] {
        guard model.value?.archive == archive, model.value?.key == key else { return [] }
        model.value?.isBiographyPending = false
        if case .success(let biography) = result { model.value?.biography = biography }
        return []
    }

    static func showBiography(_ model: inout Model) {
        guard let value = model.value else { return }
        let lines = EventText.story(value, model)
        model.overlay = .message(
            MessageBox(title: "Biography of \(TerminalText.sanitized(value.key))", lines: lines))
    }
}
