import StoreInspection
import TerminalKit

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

    /// The rows of the difference. An equal line has one row. A changed line that is too wide is cut around its change.
    func rows(columns: Int) -> [Row] {
        let room = max(1, columns - 2)
        var rows: [Row] = []
        let pairs = diff.counterparts
        for (place, line) in diff.lines.prefix(EditPlan.mostLines).enumerated() {
            let sign: String
            var text = line.text
            switch line.kind {
            case .gap(let count):
                rows.append(
                    Row(kind: line.kind, text: "  (\(Figures.count(count, "equal line", "equal lines")))"))
                continue
            case .kept:
                sign = "  "
                // Only the visible part is read, so that a long line costs no more.
                text = TextWrap.pieces(text, columns: room, most: 2).joined()
                text = TextWidth.truncate(text, to: room, ellipsis: EditPlan.ellipsis)
            case .removed, .added:
                sign = line.kind == .removed ? "- " : "+ "
                if let other = pairs[place], TextWidth.width(of: text) > room {
                    text = EditPlan.cut(text, unlike: diff.lines[other].text)
                }
            }
            for (place, part) in TextWrap.pieces(text, columns: room).enumerated() {
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

    private static let ellipsis = "..."
    /// Characters shown on both sides of a change within a long line.
    private static let context = 24

    /// The part of a long line that differs from another one. Compares scalars, since equivalent texts differ.
    private static func cut(_ text: String, unlike other: String) -> String {
        let (own, others) = (Array(text.unicodeScalars), Array(other.unicodeScalars))
        let start = zip(own, others).prefix { $0 == $1 }.count
        let end = zip(own[start...].reversed(), others[start...].reversed()).prefix { $0 == $1 }.count
        let shown = max(0, start - context)..<min(own.count, own.count - end + context)
        return (shown.lowerBound > 0 ? ellipsis : "") + String(String.UnicodeScalarView(own[shown]))
            + (shown.upperBound < own.count ? ellipsis : "")
    }
}

extension OverlayPlaces {
    static func dialog(_ plan: EditPlan, _ model: Model) -> Dialog {
        let screen = dialogs(model)
        let columns = max(20, min(110, screen.columns - 4))
        let isNew = plan.edit.replacing == nil
        var body = ["\(facts(plan)), in \(TitleView.name(of: plan.draft.entry.archive, model))"]
        if screen.rows >= 16 {
            body.append(
                isNew
                    ? "Stored only if the key is still unused."
                    : model.isOfServer
                        ? "Stored only if it is unchanged. The expiry time is kept. No undo."
                        : "Stored only if it is unchanged. Expiry time and owner are kept. No undo."
            )
        }
        let isSmall = screen.rows < 9
        // Border, buttons and the empty line above them take four rows; one more stays free around the dialog.
        let room = screen.rows - (isSmall ? 2 : 5 + body.count)
        return Dialog(
            title: (isNew ? "New entry " : "Change ") + plan.edit.name + "?", body: isSmall ? [] : body,
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
