import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

/// The form that chooses how entries expire. Its targets are fixed when it opens.
struct ExpireForm: DialogOverlay {
    enum Choice: Int, Sendable, Hashable, CaseIterable { case after, now, never, idle }

    private let chosen: ChosenEntries
    private let hiding: String?
    var choice: Choice
    var after = TextField("5m")
    var idle = TextField("1h")
    var button = 1
    var problem: String?

    init(_ chosen: ChosenEntries) {
        (self.chosen, hiding) = (chosen, chosen.hiding)
        choice = chosen.targets.isEmpty ? .idle : .after
        (after.isSuggestion, idle.isSuggestion) = (true, true)
    }

    private var archive: ArchiveAddress { chosen.archive }
    private var targets: [Target] { chosen.targets }

    var keys: [(key: String, title: String)] {
        [("enter", "Continue"), ("esc", "Cancel"), ("up/down", "Select"), ("tab", "Switch button")]
    }
    var question: Browser.Question? { .expire }

    func press(_ model: inout Model, _ key: Key) -> [Effect] {
        var form = self
        let choices = Choice.allCases
        // Without a selected entry only the choice of idle entries is left.
        let step = targets.isEmpty ? 0 : 1
        switch key.code {
        case .enter where button == 1: return plan(&model)
        case .enter, .escape:
            model.overlay = nil
            return model.reply("Nothing was changed.", seconds: 3)
        case .up, .down:
            let next = choice.rawValue + (key.code == .down ? step : choices.count - step)
            (form.choice, form.problem) = (choices[next % choices.count], nil)
        case .tab, .backTab: form.button = 1 - button
        default:
            let isHandled =
                choice == .after && form.after.handle(key) || choice == .idle && form.idle.handle(key)
            if isHandled { form.problem = nil }
        }
        model.overlay = form
        return []
    }

    func paste(_ model: inout Model, _ text: String) {
        var form = self
        switch choice {
        case .after: form.after.insert(text)
        case .idle: form.idle.insert(text)
        case .now, .never: return
        }
        form.problem = nil
        model.overlay = form
    }

    func click(_ model: inout Model, _ point: Point) -> [Effect] {
        var form = self
        if let button = button(at: point, model) {
            form.button = button
            return Browser.press(&model, Key(.enter), in: form)
        }
        let content = places(model).content
        guard content.contains(point), !targets.isEmpty,
            let choice = Choice(rawValue: firstChoice(in: content) + point.row - content.row)
        else { return [] }
        (form.choice, form.problem) = (choice, nil)
        model.overlay = form
        return []
    }

    /// Opens the plan of the choice; idle entries are collected first.
    private func plan(_ model: inout Model) -> [Effect] {
        let change: PlannedAction
        var chosen = chosen
        do throws(DurationFault) {
            switch choice {
            case .now: change = .expireNow
            case .never:
                chosen.targets = targets.filter(\.hasDeadline)
                guard !chosen.targets.isEmpty else {
                    model.overlay = nil
                    let which = targets.count == 1 ? "The entry has no" : "No entry has an"
                    return model.reply("\(which) expiry time. Nothing was changed.")
                }
                change = .setLifetime(nil)
            case .after: change = .setLifetime(try DurationText.interval(after.text))
            case .idle:
                let idle = try DurationText.interval(self.idle.text)
                model.overlay = nil
                return Browser.collectIdle(&model, idle, in: archive)
            }
        } catch {
            var form = self
            form.problem = "\(error)."
            model.overlay = form
            return []
        }
        model.overlay = Plan(change, of: chosen)
        return []
    }

    // MARK: View

    func dialog(_ model: Model) -> Dialog {
        let entries = Plan.amount(targets, of: chosen.group)
        let archive = TitleView.name(of: self.archive, model)
        let isIdle = choice == .idle
        var body: [String] = []
        if let problem {
            body.append(problem)
        } else if model.size.rows >= 10 {
            let scope =
                isIdle ? "All idle entries of \(archive), filtered or not" : "\(entries) of \(archive)"
            body.append("\(scope). You will see a preview first.")
            if model.size.rows >= 12, !isIdle, let hiding { body.append(hiding) }
        }
        return Dialog(
            title: isIdle ? "Expire idle entries of \(archive)" : "Expire \(entries)", body: body,
            buttons: ["Cancel", "Continue"], selectedButton: button, contentRows: Choice.allCases.count)
    }

    private func firstChoice(in content: Rect) -> Int {
        Table.firstRow(showing: choice.rawValue, of: Choice.allCases.count, in: content.rows, from: 0)
    }

    func spoken(_ model: Model) -> SpokenOverlay {
        let words =
            switch choice {
            case .after: "in \(after.text)"
            case .now: "now"
            case .never: "never"
            case .idle: "all idle over \(idle.text)"
            }
        var spoken = SpokenOverlay(dialog(model), "expire \(words)")
        spoken.opened += problem ?? ""
        return spoken
    }

    func draw(_ model: Model, into frame: inout Frame) {
        drawDialog(model, into: &frame)
        let content = places(model).content
        let first = firstChoice(in: content)
        for row in 0..<content.rows {
            guard let choice = Choice(rawValue: first + row) else { break }
            draw(choice, into: &frame, in: content.line(row), look: model.look)
        }
    }

    private func draw(_ choice: Choice, into frame: inout Frame, in line: Rect, look: Look) {
        let isSelected = self.choice == choice
        let isOff = targets.isEmpty && choice != .idle
        let sign = isSelected ? String(look.glyphs.pointer) : " "
        let base = look[isSelected ? .accent : isOff ? .dim : .dialog].over(look[.dialog])
        func write(_ label: String, _ field: TextField?, _ rest: String) {
            let idle = "idle longer than"
            let isWide = line.columns >= TextWidth.width(of: idle) + 13
            let label = "\(sign) " + (isWide ? TextWidth.pad(label, to: TextWidth.width(of: idle)) : label)
            var column = line.column
            column += frame.write(label, at: line.origin, style: base, within: line)
            if var field {
                let place = Rect(column: column + 1, row: line.row, columns: 10, rows: 1).intersection(line)
                field.isActive = isSelected
                if isSelected {
                    field.draw(into: &frame, in: place, look: look)
                } else {
                    frame.write(field.text, at: place.origin, style: base, within: place)
                }
                column = place.endColumn
            }
            guard column + 1 + TextWidth.width(of: rest) <= line.endColumn else { return }
            frame.write(
                rest, at: Point(column: column + 1, row: line.row), style: look[.dim].over(look[.dialog]),
                within: line)
        }
        switch choice {
        case .after: write("in", after, "such as 90s, 5m, 2h, 3d")
        case .now: write("now", nil, "")
        case .never: write("never", nil, "")
        case .idle: write("idle longer than", self.idle, "all of \(archive.name)")
        }
    }
}
