import StorageEngine
import StoreInspection
import TerminalKit

extension ValueScreen {
    /// The matches, and whether the value was unchanged when the search ended.
    private struct Outcome: Sendable {
        var found: SearchMatches?
        var isSame = true
    }

    /// Replaces an incomplete tree by the text view, which is complete.
    static func leaveCutTree(_ model: inout Model) -> [Effect] {
        guard let value = model.value, value.mode == .tree, value.tree?.isCut == true else { return [] }
        return switchView(&model) { $0.switchView(to: .text) }
    }

    static func askFindText(_ model: inout Model) -> [Effect] {
        guard let value = model.value else { return [] }
        let isHex = value.mode == .hex
        model.prompt = Prompt(
            label: value.mode == .text && value.tree?.isCut == true ? "find in the text: " : "find: ",
            field: TextField(placeholder: isHex ? "text, or bytes such as 0x1f8b" : "text to find"),
            before: value.find.text, keys: [("enter", "Keep"), ("esc", "Cancel")])
        model.value?.find.start = value.place
        return []
    }

    static func promptNote(_ model: Model) -> String {
        guard let find = model.value?.find, !find.text.isEmpty else { return "" }
        if model.value?.mode == .hex {
            guard let pattern = BytePattern(digitsOrText: find.text) else {
                return "  0x needs pairs of hex digits"
            }
            if pattern.bytes != nil { return "  as bytes: \(find.note)" }
        }
        guard let value = model.value, value.mode == .text, value.load?.content.isSpellingCut == true else {
            return "  " + find.note
        }
        return "  \(find.note) in the first \(Figures.bytes(UInt64(value.size))) of JSON"
    }

    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect] {
        model.value?.find.text = text
        return find(&model)
    }

    static func promptEnded(_ model: inout Model, _ prompt: Prompt, isKept: Bool) -> [Effect] {
        // Enter without a text keeps the previous search.
        if isKept, model.value?.find.text.isEmpty == false {
            showMatchPosition(&model)
            return []
        }
        guard model.value?.find.text != prompt.before else { return [] }
        model.value?.find.text = prompt.before
        return find(&model)
    }

    static func find(_ model: inout Model) -> [Effect] {
        let stopping = stopFinding(&model)
        guard let value = model.value, value.load != nil else { return stopping }
        let ticket = model.ticket()
        guard let search = search(value, ticket) else { return stopping }
        model.value?.find.ticket = ticket
        model.begin(Job(ticket: ticket, title: "searching \"\(value.find.text)\"", since: model.now))
        return stopping + [search]
    }

    static func stopFinding(_ model: inout Model) -> [Effect] {
        let ticket = model.value?.find.ticket
        model.value?.find.forget()
        guard let ticket else { return [] }
        model.ends(ticket)
        return [.stop(ticket: ticket)]
    }

    private static func search(_ value: ValueState, _ ticket: Int) -> Effect? {
        if value.mode == .tree {
            guard let tree = value.tree, !tree.isCut, let pattern = SearchText(value.find.text) else {
                return nil
            }
            return ask(value, ticket) { context in Outcome(found: tree.find(pattern, context.progress)) }
        }
        let text = value.find.text
        let wanted: SearchMatches.Wanted? =
            value.mode == .hex
            ? BytePattern(digitsOrText: text).map { .bytes($0) } : SearchText(text).map { .text($0) }
        guard let wanted else { return nil }
        if let held = value.heldBytes {
            return ask(value, ticket) { context in
                Outcome(
                    found: SearchMatches.find(wanted, in: held.count, progress: context.progress) {
                        Array(held[$0])
                    })
            }
        }
        guard let entry = value.load?.entry else { return nil }
        return ask(value, ticket) { (context) throws(SourceError) in
            var exists = true
            let found = try SearchMatches.find(wanted, in: entry.valueBytes, progress: context.progress) {
                (range) throws(SourceError) in
                let bytes = try context.source.bytes(value.key, range: range, in: value.archive)
                if bytes == nil { exists = false }
                return bytes
            }
            let now = try context.source.entry(value.key, in: value.archive)
            return Outcome(
                found: exists ? found : SearchMatches(), isSame: now.map(entry.isSameValue) ?? false)
        }
    }

    private static func ask(
        _ value: ValueState, _ ticket: Int,
        _ read: @escaping @Sendable (QuestionContext) throws(SourceError) -> Outcome
    ) -> Effect {
        .ask("find \"\(value.find.text)\" in \(value.archive.name)/\(value.key)", ticket: ticket, read) {
            model, result in
            guard model.value?.find.ticket == ticket else { return [] }
            model.value?.find.ticket = nil
            model.ends(ticket)
            switch result {
            case .failure(let error): model.value?.problem = error.description
            case .success(let outcome):
                guard let found = outcome.found else { break }
                model.value?.find.found = found
                model.value?.find.hasChanged = !outcome.isSame
                if !outcome.isSame { model.value?.isStale = true }
                if let start = model.value?.find.start { go(to: found.first(from: start), &model) }
            }
            return []
        }
    }

    // MARK: From match to match

    static func findNext(_ model: inout Model, forward: Bool) -> [Effect] {
        guard let value = model.value else { return [] }
        guard !value.find.text.isEmpty else {
            return model.reply("No search yet; \(Browser.keyName(model, .find)) starts one.", seconds: 3)
        }
        guard let found = value.find.found else {
            guard value.find.ticket == nil else { return [] }
            let turning = leaveCutTree(&model)
            if !turning.isEmpty { return turning }
            model.value?.find.start = value.place
            return find(&model)
        }
        let view = value.bytesInView(model.layout.page)
        if let current = value.find.current, value.mode != .tree, found.places[current].overlaps(view) {
            let count = found.places.count
            go(to: (current + (forward ? 1 : count - 1)) % count, &model)
        } else if forward {
            go(to: found.first(from: value.mode == .tree ? value.place + 1 : value.place), &model)
        } else if let next = found.first(from: value.place) {
            let count = found.places.count
            go(to: (next + count - 1) % count, &model)
        }
        showMatchPosition(&model)
        return []
    }

    /// Shows the match's number as a notice on screens without a status line.
    private static func showMatchPosition(_ model: inout Model) {
        guard let note = model.value?.find.note, !note.isEmpty, model.size.rows < 9 else { return }
        model.say(note, seconds: 3)
    }

    private static func go(to match: Int?, _ model: inout Model) {
        guard var value = model.value, let match, let place = value.find.found?.places[match] else { return }
        value.find.current = match
        let isInView = value.bytesInView(model.layout.page).contains(place.lowerBound)
        let above = min(3, model.layout.page / 4)
        switch value.mode {
        case .tree: value.reveal(place.lowerBound)
        case .text: if !isInView { value.text.goal = .init(offset: place.lowerBound, rowsAbove: above) }
        case .hex:
            if !isInView { value.top = max(0, place.lowerBound / value.bytesPerRow - above) }
        }
        model.value = value
    }
}

extension ValueState {
    /// The selected node, or the first visible byte.
    var place: Int {
        switch mode {
        case .tree: node ?? 0
        case .text: min(text.goal?.offset ?? text.top, max(0, size - 1))
        case .hex: top * bytesPerRow
        }
    }

    /// The visible bytes; empty for a tree.
    func bytesInView(_ page: Int) -> Range<Int> {
        switch mode {
        case .tree: return 0..<0
        case .text: return text.top..<max(text.top, textRows(page).last?.range.upperBound ?? 0)
        case .hex: return top * bytesPerRow..<(top + page) * bytesPerRow
        }
    }
}

extension ValueTree {
    func find(_ pattern: SearchText, _ progress: (Double) -> Bool) -> SearchMatches? {
        var found = SearchMatches()
        for index in nodes.indices {
            if index % 1024 == 0, !progress(Double(index) / Double(nodes.count)) { return nil }
            if matches(index, pattern) { found.add(index..<index + 1) }
        }
        return found
    }

    func matches(_ index: Int, _ pattern: SearchText) -> Bool {
        let node = nodes[index]
        if pattern.matches(node.name) { return true }
        if case .text(let text) = node.content, pattern.matches(text) { return true }
        return !node.isContainer && pattern.matches(node.value)
    }
}

extension EntryMetadata {
    /// Whether both are the same value. Entries of different archives of one name may share a sequence number.
    func isSameValue(_ other: EntryMetadata) -> Bool {
        sequence == other.sequence && created == other.created
    }
}

struct ValueFind: Sendable {
    var text = ""
    /// The byte or node where the search began. The first match to show is the next one after it.
    var start = 0
    var ticket: Int?
    /// Nil until the search ends.
    var found: SearchMatches?
    var current: Int?
    var hasChanged = false

    mutating func forget() { (ticket, found, current, hasChanged) = (nil, nil, nil, false) }

    /// The selected match, in bytes or nodes.
    var match: Range<Int>? { current.flatMap { found?.places[$0] } }

    var note: String {
        guard !text.isEmpty else { return "" }
        guard let found else { return ticket == nil ? "not searched" : "searching" }
        if hasChanged { return "the value changed during the search" }
        if found.count == 0 { return "no match" }
        let count = Figures.count(found.count)
        let all =
            found.count > found.places.count
            ? "\(count), the first \(Figures.count(found.places.count)) kept" : count
        return current.map { "\(Figures.count($0 + 1)) of \(all)" } ?? "\(all) matches"
    }
}
