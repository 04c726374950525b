import ArchiveQuery
import StoreInspection
import TerminalKit

/// Filtering and finding messages. The log is searched off the drawing thread; new messages are searched as they arrive.
extension MessagesScreen {
    private static let batch = 2_000

    static func ask(_ purpose: LogState.Purpose, _ model: inout Model) {
        guard let log = model.log else { return }
        let isFilter = purpose == .filter
        model.log?.typing = purpose
        model.log?.searchStart = (log.cursor, log.follows)
        model.prompt = Prompt(
            label: isFilter ? "filter: " : "find: ",
            field: TextField(log[purpose].text, placeholder: "regular expression; ! inverts"),
            before: log[purpose].text,
            keys: [("enter", "Keep"), ("esc", isFilter ? "Clear" : "Cancel"), ("up/down", "Move")])
    }

    static func promptNote(_ model: Model) -> String {
        guard let log = model.log else { return "" }
        let search = log[log.typing]
        if let problem = search.problem { return "  \(problem)" }
        return search.isActive ? "  " + note(log, log.typing) : ""
    }

    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect] {
        guard let purpose = model.log?.typing else { return [] }
        return look(for: text, purpose, &model)
    }

    static func promptEnded(_ model: inout Model, _ prompt: Prompt, isKept: Bool) -> [Effect] {
        guard let log = model.log else { return [] }
        if !isKept, let start = log.searchStart { model.log?.select(start.number, follows: start.follows) }
        if !isKept || log.typing == .filter { model.log?.searchStart = nil }
        let typed = log[log.typing]
        if isKept, typed.problem == nil { return [] }
        if isKept, let problem = typed.problem {
            model.say("Not a regular expression: \(problem)", role: .error)
        }
        // Esc removes a filter but restores the previous search.
        return look(for: log.typing == .filter && !isKept ? "" : prompt.before, log.typing, &model)
    }

    /// Clears the search, then the filter, then leaves.
    static func clear(_ model: inout Model) -> [Effect] {
        guard let log = model.log else { return [] }
        if !log.find.text.isEmpty { return look(for: "", .find, &model) }
        if !log.filter.text.isEmpty { return look(for: "", .filter, &model) }
        return back(&model)
    }

    static func look(for text: String, _ purpose: LogState.Purpose, _ model: inout Model) -> [Effect] {
        guard let log = model.log, log[purpose].text != text else { return [] }
        let effects = stopSearching(&model, purpose)
        model.log?[purpose].text = text
        // Selects the match nearest to the start, not to a match of the previous text.
        if purpose == .filter, let start = log.searchStart {
            model.log?.select(start.number, follows: start.follows)
        }
        // The search covers the shown messages.
        return effects + (purpose == .filter ? stopSearching(&model, .find) : [])
    }

    static func stopSearching(_ model: inout Model, _ purpose: LogState.Purpose) -> [Effect] {
        let ticket = model.log?[purpose].ticket
        model.log?[purpose].restart()
        guard let ticket else { return [] }
        model.ends(ticket)
        return [.stop(ticket: ticket)]
    }

    static func search(_ model: inout Model) -> [Effect] {
        LogState.Purpose.allCases.compactMap { search($0, &model) }
    }

    private static func search(_ purpose: LogState.Purpose, _ model: inout Model) -> Effect? {
        guard let log = model.log, let available = log.available, let pattern = log[purpose].pattern,
            !log[purpose].isPending, !log[purpose].isStopped
        else { return nil }
        let first = max(log[purpose].end ?? available.lowerBound, available.lowerBound)
        guard first < available.upperBound else { return nil }
        model.log?[purpose].isPending = true
        var ticket: Int?
        if log[purpose].end == nil {
            ticket = model.begin(purpose == .filter ? "filtering" : "finding")
            model.log?[purpose].ticket = ticket
        }
        let patterns = [pattern] + (purpose == .find ? [log.filter.pattern].compactMap { $0 } : [])
        return scan(first..<available.upperBound, of: log, patterns, purpose, ticket: ticket)
    }

    private static func scan(
        _ range: Range<Int>, of log: LogState, _ patterns: [FilterPattern], _ purpose: LogState.Purpose,
        ticket: Int?
    ) -> Effect {
        let (archive, reader, text) = (log.archive, log.reader, log[purpose].text)
        let title = "search messages \(range) of \(archive.name) for \(text)"
        return .ask(title, ticket: ticket) { (context) throws(SourceError) in
            var found: LogSearch.Found = ([], 0, [], 0)
            // New messages are searched without a ticket, in the queue of the list's own requests.
            let timeLimit = SearchTimeLimit(for: ticket == nil ? .milliseconds(100) : SearchTimeLimit.whole)
            let isComplete = try reader.scan(range, by: batch, context) { page in
                found.firstExisting = max(found.firstExisting, page.existing)
                found.damaged += page.damaged
                for (number, line) in page.lines {
                    var isUntested = false
                    let isOther = patterns.contains { pattern in
                        let matches = pattern.matches(line.searched, within: timeLimit)
                        if matches == nil { isUntested = true }
                        return matches == false
                    }
                    if isOther { continue }
                    if isUntested {
                        found.untested += 1
                    } else {
                        found.messages.append((number, line.beginning))
                    }
                }
                found.messages.removeFirst(max(0, found.messages.count - 2 * LogSearch.maximum))
            }
            return isComplete ? found : nil
        } done: { (model, result: Result<LogSearch.Found?, SourceError>) in
            guard let now = model.log, now.archive == archive, now[purpose].text == text,
                now[purpose].isPending, now[purpose].ticket == ticket
            else { return }
            model.log?[purpose].isPending = false
            model.log?[purpose].ticket = nil
            if let ticket { model.ends(ticket) }
            switch result {
            case .success(let found?):
                model.log?[purpose].add(found, upTo: range.upperBound)
                model.log?.note(removedBefore: found.firstExisting, damaged: found.damaged)
                if purpose == .find, ticket != nil { model.log?.selectFirstFound() }
            case .success(nil): break
            case .failure(let error):
                // It is retried with the next messages.
                model.log?[purpose].add(([], 0, [], 0), upTo: range.upperBound)
                model.log?.readProblem = error.description
            }
        }
    }

    // MARK: From match to match

    static func findNext(_ model: inout Model, toNewer: Bool) {
        guard let log = model.log else { return }
        guard log.find.isActive else {
            return model.say("No search yet; \(Browser.keyName(model, .search)) starts one.", seconds: 3)
        }
        let count = log.find.numbers.count
        guard count > 0 else { return }
        let next = toNewer ? log.find.count(before: log.cursor + 1) : log.find.count(before: log.cursor) - 1
        let number = log.find.numbers[(next + count) % count]
        model.log?.select(number)
        model.log?.find.hasWrapped = !(0..<count).contains(next)
    }

    static func note(_ log: LogState, _ purpose: LogState.Purpose) -> String {
        let search = log[purpose]
        if search.end == nil { return search.isStopped ? "stopped" : "searching" }
        let found = search.numbers.count + search.dropped
        let untested = search.untested > 0 ? ", \(Browser.untestedText(search.untested))" : ""
        guard found > 0 else { return "no match" + untested }
        let kept = search.dropped > 0 ? ", the latest \(Figures.count(search.numbers.count)) kept" : ""
        let index = search.count(before: log.cursor)
        let isAtMatch =
            purpose == .find && search.numbers.indices.contains(index) && search.numbers[index] == log.cursor
        let place = isAtMatch ? "\(Figures.count(index + 1 + search.dropped)) of " : ""
        let wrapped = isAtMatch && search.hasWrapped ? ", wrapped" : ""
        return "\(place)\(Figures.count(found))\(isAtMatch ? "" : " found")\(kept)\(wrapped)\(untested)"
    }
}
