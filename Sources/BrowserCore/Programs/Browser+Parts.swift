import ServerInspection
import StoreInspection
import TerminalKit

/// Adds elements to a server's hash, list, set or sorted set, and removes them.
extension Browser {
    static func askNewPart(_ model: inout Model) -> [Effect] {
        guard let value = model.value, let type = value.load?.typeName, let noun = CollectionPart.nouns[type]
        else { return model.reply("Elements are added to a server's hashes, lists, sets and sorted sets.") }
        let form = noun + (type == "hash" ? "=value" : type == "zset" ? "=score" : "")
        model.prompt = Prompt(
            label: "\(form) to add: ", field: TextField(), keys: [("enter", "Continue"), ("esc", "Cancel")],
            purpose: .part(EntryAddress(value.key, in: value.archive), type))
        return []
    }

    static func addPart(_ model: inout Model, _ text: String, to entry: EntryAddress, _ type: String) {
        // A score has no equals sign; a field may have one only as h'3d'.
        let sign = type == "zset" ? text.lastIndex(of: "=") : text.firstIndex(of: "=")
        let words = sign.map { [String(text[..<$0]), String(text[text.index(after: $0)...])] } ?? [text]
        let isPair = ["hash", "zset"].contains(type)
        guard !isPair || words.count == 2, type != "zset" || Double(words[1]).map({ !$0.isNaN }) == true
        else {
            let form = type == "hash" ? "field=value" : "member=score, with a number"
            return model.say("Nothing was added: type \(form).", role: .warning)
        }
        let label = KeyName.bytes(isPair ? words[0] : type == "set" ? text : "")
        let value = Array((isPair ? words[1] : text).utf8)
        confirm(&model, CollectionPart(type, label, value: value), of: entry, isPair ? words[1] : text)
    }

    /// Asks whether to remove the selected element; nil: none is selected.
    static func planRemoval(_ model: inout Model) -> [Effect]? {
        guard model.screen == .value, let value = model.value, let (type, node) = value.selectedPart,
            CollectionPart.nouns[type] != nil
        else { return nil }
        let shown = value.shownBytes ?? []
        let label = type == "set" ? shown : KeyName.bytes(node.name)
        confirm(
            &model, CollectionPart(type, label, value: shown), of: EntryAddress(value.key, in: value.archive),
            node.value, removes: true, isLast: value.tree?.nodes.count == 2)
        return []
    }

    private static func confirm(
        _ model: inout Model, _ part: CollectionPart, of entry: EntryAddress, _ value: String,
        removes: Bool = false, isLast: Bool = false
    ) {
        let (verb, appends) = (removes ? "Remove" : "Add", !removes && part.type == "list")
        let name = TerminalText.sanitized(part.name)
        model.overlay = Choice(
            title: "\(verb) \(name)?",
            lines: [
                TerminalText.sanitized("\(entry.key): \(model.look.cut(value, to: 200))"),
                isLast ? "It is the last one: the key is removed, too." : "The expiry time is kept.",
                (appends ? "" : "Only if it is \(removes ? "unchanged" : "absent"). ") + "No undo.",
            ], button: verb
        ) { model in
            let ticket = model.ticket()
            var job = Job(ticket: ticket, title: "storing", since: model.now)
            (job.isStoppable, job.isChange) = (false, true)
            model.begin(job)
            return .ask("\(verb) \(name) of \(entry)", ticket: ticket) { (context) throws(SourceError) in
                try context.source.change(part, of: entry, removes: removes)
            } then: { model, result in
                model.ends(ticket)
                switch result {
                case .success(true):
                    model.cost.note(writes: 1, longestCall: 0)
                    model.say("\(removes ? "Removed" : "Added") \(name).", role: .good)
                case .success(false):
                    let reason = removes || appends ? "" : " or the \(name) exists"
                    model.say("Nothing was changed: the key was changed\(reason).", role: .warning)
                case .failure(let error): model.say("Not changed: \(error)", role: .error)
                }
                model.readValueAgain()
                return refresh(&model, isForced: true)
            }
        }
    }
}
