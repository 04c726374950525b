import StorageEngine
import StoreInspection
import TerminalKit

extension ValueScreen {
    /// Whether the screen still shows the requested entry.
    private static func shows(_ asked: ValueState, _ model: Model) -> Bool {
        guard let value = model.value else { return false }
        return value.archive == asked.archive && ExactText(value.key) == ExactText(asked.key)
    }

    static func load(_ value: ValueState, _ model: Model) -> Effect {
        let allowsUse = model.archives.allowsUse
        return .ask("load value \(value.archive.name)/\(value.key) for screen") {
            (context) throws(SourceError) in
            if allowsUse { context.source.allowUse(of: nil, in: value.archive) }
            return try ValueLoad.load(
                value.key, limit: ValueContent.decodingLimit, in: value.archive, from: context.source)
        } then: { model, result in
            guard shows(value, model) else { return [] }
            model.value?.isPending = false
            switch result {
            case .success(let load?):
                model.value?.show(load, seen: model.now)
                return model.value?.find.text.isEmpty == false ? find(&model) : []
            case .success(nil): return showRemoved(&model)
            case .failure(let error): model.value?.problem = error.description
            }
            return []
        }
    }

    static let removedText = "Evicted or removed since; this is the last value."

    /// Keeps the value of a removed entry on the screen, or returns to the list.
    private static func showRemoved(_ model: inout Model) -> [Effect] {
        guard let value = model.value else { return [] }
        if value.load == nil {
            guard let seen = model.entries?.preview.load, ExactText(seen.entry.key) == ExactText(value.key),
                model.entries?.archive == value.archive
            else {
                let effects = leave(&model)
                model.say("Evicted or removed since: \(value.key)", role: .warning)
                return effects
            }
            model.value?.show(seen, seen: model.now)
        }
        model.value?.problem = removedText
        return []
    }

    /// Reads chunks of the value and checks that it is unchanged.
    static func loadBytes(_ chunks: Range<Int>, of value: ValueState) -> Effect {
        let size = value.load?.entry.valueBytes ?? 0
        let range = chunks.lowerBound * StoredBytes.chunk..<min(size, chunks.upperBound * StoredBytes.chunk)
        let shown = value.load?.entry
        return .ask("load bytes \(range) of \(value.archive.name)/\(value.key)") {
            (context) throws(SourceError) in
            let bytes = try context.source.bytes(value.key, range: range, in: value.archive)
            let now = try context.source.entry(value.key, in: value.archive)
            return (bytes, shown.flatMap { shown in now.map { shown.isSameValue($0) } })
        } done: { model, result in
            guard shows(value, model), model.value?.stored.pending == chunks else { return }
            model.value?.stored.pending = nil
            var bytes: [UInt8] = []
            switch result {
            case .success((let found?, true?)): bytes = found
            case .success((_?, false?)): model.value?.isStale = true
            case .success: model.value?.problem = removedText
            case .failure(let error): model.value?.problem = error.description
            }
            model.value?.stored.take(bytes, chunks, of: size)
        }
    }

    static func check(_ value: ValueState) -> Effect {
        .ask("check value \(value.archive.name)/\(value.key)") {
            (context) throws(SourceError) -> (EntryMetadata, read: Timestamp?)? in
            guard let entry = try context.source.entry(value.key, in: value.archive) else { return nil }
            return (entry, read: context.source.serverFacts(of: value.key, in: value.archive)?.read)
        } then: { model, result in
            shows(value, model) ? compare(&model, with: result) : []
        }
    }

    private static func compare(
        _ model: inout Model, with result: Result<(EntryMetadata, read: Timestamp?)?, SourceError>
    ) -> [Effect] {
        guard let shown = model.value?.load?.entry else { return [] }
        let before = model.value?.problem
        switch result {
        case .success((let entry, let read)?):
            let wasStale = model.value?.isStale == true
            let isSame = shown.isSameValue(entry)
            model.value?.isStale = !isSame
            let isOther = entry.expires != shown.expires || entry.tier != shown.tier
            if isSame {
                model.value?.load?.entry = entry
                model.value?.load?.read = read
                model.value?.seen = model.now
            }
            model.value?.problem = nil
            if before != nil || isOther || wasStale == isSame { return loadHistory(&model) }
        case .success(nil):
            model.value?.problem = removedText
            if before != removedText { return loadHistory(&model) }
        case .failure(let error): model.value?.problem = error.description
        }
        return []
    }

    // MARK: An entry's past

    static func loadHistory(_ model: inout Model) -> [Effect] {
        guard let value = model.value, !value.isHistoryPending else { return [] }
        model.value?.isHistoryPending = true
        return .ask("load history of \(value.archive.name)/\(value.key)") { (context) throws(SourceError) in
            try context.source.history(of: value.key, in: value.archive)
        } done: { model, result in
            guard shows(value, model) else { return }
            model.value?.isHistoryPending = false
            if case .success(let history) = result {
                model.value?.history = model.events.completing(history, of: value.key, in: value.archive.name)
            }
        }
    }

    static func showHistory(_ model: inout Model) {
        guard let value = model.value else { return }
        guard let history = value.history else { return model.say("Still loading events.", seconds: 3) }
        Browser.showHistory(
            &model, of: value.key, in: value.archive.name, history, EventText.details(value, model))
    }
}

package struct ValueLoad: Sendable {
    package var entry: EntryMetadata
    package var content: ValueContent
    /// The value's first bytes, or all of a short one.
    package var head: [UInt8]
    package var remark: String?
    /// A server's type of a value shown as a document, such as `stream`.
    package var typeName: String?
    /// When a server's value was read, if later changes may not be noticed.
    package var read: Timestamp?

    /// Size in bytes as in lists: the length, or the memory that a server's key takes.
    package var size: Int

    package var name: String { typeName ?? content.name }

    /// Maximum bytes read for the pane.
    package static let previewLimit = 256 << 10

    /// Reads and decodes a value, or the beginning of one longer than `limit`.
    /// - Returns: nil if the entry doesn't exist.
    static func load(
        _ key: String, limit: Int, in archive: ArchiveAddress, from source: any StoreSource
    ) throws(SourceError) -> ValueLoad? {
        guard let entry = try source.entry(key, in: archive) else { return nil }
        let wanted = entry.valueBytes <= limit ? entry.valueBytes : min(limit, ValueContent.headLimit)
        guard let head = try source.bytes(key, range: 0..<wanted, in: archive) else { return nil }
        let content = ValueContent(head, total: entry.valueBytes, encoding: entry.encoding)
        let facts = source.serverFacts(of: key, in: archive)
        return ValueLoad(
            entry: entry, content: content, head: head, remark: facts?.remark, typeName: facts?.typeName,
            read: facts?.read, size: facts?.memory ?? entry.valueBytes)
    }
}
