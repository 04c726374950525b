import ServerInspection
import StoreInspection
import TerminalKit

/// Adds elements to a server's hash, list, set or sorted set, and removes them.
extension Browser {
    static func askNewPart(_ model: inout Model) -> [Effect] {
        guard let value = model.value, let type = value.load?.typeName, let noun = ValueElement.nouns[type]
        else { return model.reply("Elements are added to a server's hashes, lists, sets and sorted sets.") }
        let form = noun + (type == "hash" ? "=value" : type == "zset" ? "=score" : "")
        model.prompt = Prompt(
            label: "\(form) to add: ", field: TextField(), keys: [("enter", "Continue"), ("esc", "Cancel")],
            purpose: .part(EntryAddress(value.key, in: value.archive), type))
        return []
    }

    static func addPart(_ model: inout Model, _ text: String, to entry: EntryAddress, _ type: String) {
        guard type == "hash" || type == "zset" else {
            let bytes = KeyName.bytes(text)
            let element = type == "set" ? ValueElement.member(bytes) : .end
            return confirm(&model, element, of: entry, text, to: type == "set" ? [] : bytes)
        }
        // A score has no equals sign; a field may have one only as h'3d'.
        let sign = type == "zset" ? text.lastIndex(of: "=") : text.firstIndex(of: "=")
        let name = KeyName.bytes(String(text[..<(sign ?? text.startIndex)]))
        let element = type == "hash" ? ValueElement.field(name) : .score(name)
        let value = sign.map { String(text[text.index(after: $0)...]) } ?? ""
        let bytes = KeyName.bytes(value)
        guard sign != nil, element.accepts(bytes) else {
            let form = type == "hash" ? "field=value" : "member=score, with \(ValueElement.scores)"
            return model.say("Nothing was added: type \(form).", role: .warning)
        }
        confirm(&model, element, of: entry, value, to: bytes)
    }

    /// Asks whether to remove the selected element; nil: the whole key is selected.
    static func planRemoval(_ model: inout Model) -> [Effect]? {
        guard model.screen == .value, let value = model.value, value.isPartSelected else { return nil }
        let shown = value.shownBytes ?? []
        guard let (type, node) = value.selectedPart, ValueElement.nouns[type] != nil,
            let element = type == "set" ? .member(shown) : value.element
        else {
            return model.reply(
                "This part can't be removed. \(keyName(model, .delete)) on the first row deletes the whole key.",
                role: .warning)
        }
        confirm(
            &model, element, of: EntryAddress(value.key, in: value.archive), node.value,
            from: type == "set" ? [] : type == "zset" ? Array(node.value.utf8) : shown,
            isLast: value.tree?.nodes.count == 2)
        return []
    }

    /// - Parameters:
    ///   - former: the value of the element to remove; nil: it is added.
    ///   - bytes: the value of the element to add.
    private static func confirm(
        _ model: inout Model, _ element: ValueElement, of entry: EntryAddress, _ value: String,
        from former: [UInt8]? = nil, to bytes: [UInt8]? = nil, isLast: Bool = false
    ) {
        let verb = bytes == nil ? "Remove" : "Add"
        let name = TerminalText.sanitized(element.fullName)
        let condition =
            bytes == nil
            ? "Only if it is unchanged."
            : element == .end ? "Equal elements may exist." : "Only if it is absent."
        model.overlay = Choice(
            title: "\(verb) \(name)?",
            lines: [
                TerminalText.sanitized("\(entry.key): \(model.look.cut(value, to: 200))"),
                isLast ? "It is the last element: the key is removed, too." : "The expiry time is kept.",
                "\(condition) No undo.",
            ], button: verb
        ) { model in
            let ticket = model.beginChange("storing")
            return .ask("\(verb) \(name) of \(entry)", ticket: ticket) { (context) throws(SourceError) in
                try context.source.change(element, of: entry, from: former, to: bytes)
            } then: { model, result in
                model.ends(ticket)
                switch result {
                case .success(true):
                    model.cost.note(writes: 1, longestCall: 0)
                    model.say("\(bytes == nil ? "Removed" : "Added") \(name).", role: .good)
                case .success(false):
                    let reason = bytes == nil || element == .end ? "" : " or the \(name) exists"
                    model.say("Nothing was changed: the key was changed\(reason).", role: .warning)
                case .failure(let error): model.say("\(verb) \(name): \(error)", role: .error)
                }
                model.readValueAgain()
                return refresh(&model, isForced: true)
            }
        }
    }
}
