import StoreInspection
import TerminalKit

/// The difference that an edit would store, shown before it is stored.
struct EditPlan: Sendable {
    let draft: Draft
    let edit: StoredEdit
    let form: EditableValue.Form
    let diff: LineDiff
    /// 0 is Cancel.
    var button = 0
    var first = 0

    struct Row: Sendable, Hashable {
        let kind: LineDiff.Kind
        let text: String
    }

    private static let mostLines = 5_000

    func rows(columns: Int) -> [Row] {
        let room = max(1, columns - 2)
        var rows: [Row] = []
        for line in diff.lines.prefix(EditPlan.mostLines) {
            let sign: String
            switch line.kind {
            case .gap(let count):
                rows.append(
                    Row(kind: line.kind, text: "  (\(Figures.count(count, "equal line", "equal lines")))"))
                continue
            case .kept: sign = "  "
            case .removed: sign = "- "
            case .added: sign = "+ "
            }
            for (place, part) in EditPlan.parts(of: line.text, columns: room).enumerated() {
                rows.append(Row(kind: line.kind, text: (place == 0 ? sign : "  ") + part))
            }
        }
        let rest = diff.lines.count - EditPlan.mostLines
        if rest > 0 {
            rows.append(
                Row(kind: .gap(rest), text: "  (\(Figures.count(rest, "line", "lines")) more, not shown)"))
        }
        return rows
    }

    /// Splits a line into parts of at most `columns`, keeping all spaces.
    private static func parts(of line: String, columns: Int) -> [String] {
        var parts: [String] = []
        var part = ""
        var used = 0
        let spaced = String(line.flatMap { $0 == "\t" ? "    " : String($0) })
        for character in TerminalText.sanitized(spaced) {
            let width = TextWidth.width(of: character)
            if used + width > columns, used > 0 {
                parts.append(part)
                (part, used) = ("", 0)
            }
            part.append(character)
            used += width
        }
        return parts + [part]
    }
}

extension OverlayPlaces {
    static func dialog(_ plan: EditPlan, _ model: Model) -> Dialog {
        let screen = dialogs(model)
        let columns = max(20, min(110, screen.columns - 4))
        let key = TerminalText.sanitized(plan.edit.key)
        let isNew = plan.edit.replacing == nil
        var body = ["\(facts(plan)), in \(TitleView.name(of: plan.draft.entry.archive, model))"]
        if screen.rows >= 16 {
            body.append(
                isNew
                    ? "Stored only if the key is still unused."
                    : "Stored only if it is unchanged. Expiry time and owner are kept. No undo."
            )
        }
        let isSmall = screen.rows < 9
        // Border, buttons and the empty line above them take four rows; one more stays free around the dialog.
        let room = screen.rows - (isSmall ? 2 : 5 + body.count)
        return Dialog(
            title: (isNew ? "New entry " : "Change ") + key + "?", body: isSmall ? [] : body,
            buttons: ["Cancel", "Store"], selectedButton: plan.button,
            contentRows: max(1, min(plan.rows(columns: columns - 4).count, room)), maximumColumns: columns)
    }

    /// `2 lines removed, 1 added; 214 B as CBOR`
    private static func facts(_ plan: EditPlan) -> String {
        let size = Figures.bytes(UInt64(plan.edit.bytes.count))
        let form = plan.form == .cbor ? "CBOR" : plan.form == .text ? "text" : "JSON"
        let lines =
            plan.edit.replacing == nil
            ? Figures.count(plan.diff.added, "line", "lines")
            : "\(Figures.count(plan.diff.removed, "line", "lines")) removed, \(Figures.count(plan.diff.added)) added"
        return "\(lines); \(size) as \(form)"
    }
}

extension OverlayView {
    static func draw(_ plan: EditPlan, _ model: Model, into frame: inout Frame) {
        let look = model.look
        let dialog = OverlayPlaces.dialog(plan, model)
        frame.cursor = nil
        frame.draw(dialog, in: OverlayPlaces.dialogs(model), look: look)
        let places = dialog.places(in: OverlayPlaces.dialogs(model))
        let content = places.content
        let rows = plan.rows(columns: content.columns)
        let first = max(0, min(plan.first, rows.count - content.rows))
        for (offset, row) in rows.dropFirst(first).prefix(content.rows).enumerated() {
            let role: Role =
                switch row.kind {
                case .kept: .text
                case .removed: .danger
                case .added: .good
                case .gap: .dim
                }
            let line = content.line(offset)
            frame.write(row.text, at: line.origin, style: look[role].over(look[.dialog]), within: line)
        }
        ScrollBar(total: rows.count, first: first, visible: content.rows)
            .draw(into: &frame, in: places.bar(of: content), look: look)
    }
}
