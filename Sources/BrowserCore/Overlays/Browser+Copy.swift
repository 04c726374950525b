import ArchiveQuery
import CBOR
import StorageEngine
import StoreInspection
import TerminalKit

extension Browser {
    static func showCopyMenu(_ model: inout Model, _ items: [CopyItem]) {
        // The Swift source is for stores only.
        let items = items.filter { !model.isOfServer || $0.letter != "s" }
        if items.isEmpty { model.say("Nothing to copy here.") }
        model.overlay = items.isEmpty ? nil : CopyMenu(items: items)
    }

    static func copy(_ model: inout Model, _ item: CopyItem) -> [Effect] {
        model.overlay = nil
        switch item.content {
        case .ready(let text): return copy(&model, Array(text.utf8), of: item)
        case .absent(let reason): return model.reply("Nothing was copied: \(reason).", role: .warning)
        case .read(let entries, let part):
            let subject = entries.count == 1 ? "\(entries[0])" : "\(entries.count) entries"
            return .ask("read \(item.name) of \(subject) to copy it") { (context) throws(SourceError) in
                try read(part, of: entries, from: context.source)
            } then: { model, result in
                switch result {
                case .success(let bytes): return copy(&model, bytes, of: item)
                case .failure(let error): return model.reply("Nothing was copied: \(error).", role: .error)
                }
            }
        }
    }

    private static let maximumRead = 1 << 20

    /// The part of each entry, separated by line breaks; nil if it is too large. Of several entries, leaves out removed ones;
    /// throws if none remains.
    private static func read(
        _ part: CopyItem.Part, of entries: [EntryAddress], from source: any StoreSource
    ) throws(SourceError) -> [UInt8]? {
        guard entries.count > 1 else { return try read(part, of: entries[0], from: source) }
        var (all, count): ([UInt8], Int) = ([], 0)
        for entry in entries where all.count <= Clipboard.maximumBytes {
            if part != .key, try source.entry(entry.key, in: entry.archive) == nil { continue }
            guard let bytes = try read(part, of: entry, from: source) else { return nil }
            all += (count > 0 ? [UInt8(ascii: "\n")] : []) + bytes
            count += 1
        }
        guard count > 0 else { throw SourceError("the entries no longer exist") }
        return all
    }

    private static func read(
        _ part: CopyItem.Part, of address: EntryAddress, from source: any StoreSource
    ) throws(SourceError) -> [UInt8]? {
        if part == .key { return Array(address.key.utf8) }
        guard let entry = try source.entry(address.key, in: address.archive) else {
            throw SourceError("the entry no longer exists")
        }
        guard entry.valueBytes <= maximumRead else { return nil }
        guard let bytes = try source.bytes(address.key, range: 0..<entry.valueBytes, in: address.archive)
        else { throw SourceError("the value was removed, or is only in the memory of a process") }
        let value = RecognizedValue(bytes, encoding: entry.encoding)
        do {
            switch part {
            case .key: return nil
            case .row:
                let members = MetadataColumns.members(entry)
                return Array(MetadataColumns.entry(members, value: .cell(.item(value.item))).text.utf8)
            case .value where value.form.isDocument: return try value.json(.pretty)
            case .value where value.form == .text: return bytes
            case .value: return bytes.flatMap { Array((($0 < 16 ? "0" : "") + String($0, radix: 16)).utf8) }
            }
        } catch {
            throw SourceError("\(error)")
        }
    }

    private static func copy(_ model: inout Model, _ bytes: [UInt8]?, of item: CopyItem) -> [Effect] {
        guard let bytes, bytes.count <= Clipboard.maximumBytes else {
            let size = bytes.map { ": \(Figures.bytes(UInt64($0.count)))" } ?? ""
            let most = Figures.bytes(UInt64(Clipboard.maximumBytes))
            model.overlay = MessageBox(
                "Nothing was copied",
                [
                    "Too large for a clipboard\(size). Terminals accept at most \(most).",
                    alternatives(model),
                ])
            return []
        }
        if case .none(let type) = model.environment.clipboard {
            show(&model, bytes, item, type)
            return []
        }
        guard let sequence = model.environment.clipboard.sequence(for: bytes) else { return [] }
        let said = "Copied \(item.name), \(Figures.bytes(UInt64(bytes.count))), to the terminal's clipboard."
        if model.hasExplainedClipboard {
            model.say(said, role: .good)
        } else {
            model.hasExplainedClipboard = true
            model.overlay = MessageBox("Copied", [said, "", explanation(model.environment.clipboard)])
        }
        return [.send(sequence)]
    }

    /// Help for an empty clipboard: terminals don't report whether they accept the text.
    private static func explanation(_ clipboard: Clipboard) -> String {
        let rest = "This message is shown once a session."
        switch clipboard {
        case .tmux:
            return
                "If the clipboard stays empty, run \"tmux set -g set-clipboard on\" or \"tmux set -g "
                + "allow-passthrough on\". \(rest)"
        case .screen:
            return
                "If the clipboard stays empty, the terminal that runs screen doesn't allow it. In tmux over ssh, "
                + "start vellum with TERM=tmux-256color. \(rest)"
        case .direct, .none:
            return "If the clipboard stays empty, the terminal lacks OSC 52 or doesn't allow it (xterm: "
                + "allowWindowOps; iTerm2: applications may access the clipboard). \(rest)"
        }
    }

    private static func alternatives(_ model: Model) -> String {
        let keys = [ActionID.write, .export].filter {
            model.keyMap.action($0)?.contexts.contains(model.screen) == true
        }
        guard let key = keys.first else {
            return "\(keyName(model, .commandLine)) shows the command that prints it."
        }
        return "\(keyName(model, key)) writes \(key == .write ? "the value" : "the result") to a file."
    }

    private static func show(_ model: inout Model, _ bytes: [UInt8], _ item: CopyItem, _ type: String) {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
        let name =
            type.isEmpty ? "A terminal without a type" : "A terminal of type \(TerminalText.sanitized(type))"
        model.overlay = MessageBox(
            item.name.firstUppercased,
            ["\(name) has no clipboard. \(alternatives(model)) This is \(item.name):", ""] + lines)
    }
}
