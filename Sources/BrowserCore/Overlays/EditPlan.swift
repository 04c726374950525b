import StoreInspection
import TerminalKit

struct EditPlan: ButtonOverlay {
    let draft: Draft
    let edit: StoredEdit
    let form: EditableValue.Form
    let diff: LineDiff
    var button = 0
    var first = 0

    struct Row: Sendable, Hashable {
        let kind: LineDiff.Kind
        let text: String
    }

    private static let maximumLines = 5_000
    private static let maximumSpokenLines = 200

    /// The rows of the diff. An equal line has one row. A changed line that is too wide is cut around its change.
    func rows(columns: Int) -> [Row] {
        let available = max(1, columns - 2)
        var rows: [Row] = []
        let pairs = diff.counterparts
        for (place, line) in diff.lines.prefix(EditPlan.maximumLines).enumerated() {
            let sign: String
            var text = line.text
            switch line.kind {
            case .gap(let count):
                rows.append(
                    Row(kind: line.kind, text: "  (\(Figures.count(count, "equal line", "equal lines")))"))
                continue
            case .kept:
                sign = "  "
                // Reads only the visible part of long lines.
                text = TextWrap.pieces(text, columns: available, most: 2).joined()
                text = TextWidth.truncate(text, to: available, ellipsis: EditPlan.ellipsis)
            case .removed, .added:
                sign = line.kind == .removed ? "- " : "+ "
                if let other = pairs[place], TextWidth.width(of: text) > available {
                    text = EditPlan.cut(text, unlike: diff.lines[other].text)
                }
            }
            for (place, part) in TextWrap.pieces(text, columns: available).enumerated() {
                rows.append(Row(kind: line.kind, text: (place == 0 ? sign : "  ") + part))
            }
        }
        let rest = diff.lines.count - EditPlan.maximumLines
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

    var keys: [(key: String, title: String)] {
        FooterView.buttonKeys + [("e", "Edit again"), ("up/down", "Scroll")]
    }
    var question: Browser.Question? { .edit }
    var knownCharacters: String? { "hljkynq gGe" }

    func press(_ model: inout Model, _ key: Key) -> [Effect] {
        switch key {
        case .character("e"):
            model.overlay = nil
            return [Browser.editor(model, draft)]
        case .character(" "): return pressButtons(&model, Key(.pageDown))
        default: return pressButtons(&model, key)
        }
    }

    func confirm(_ model: inout Model) -> [Effect] { Browser.store(&model, self) }

    func refuse(_ model: inout Model) { Browser.leave(&model, draft, "Nothing was stored.") }

    func line(after key: Key, _ first: Int, _ model: Model) -> Int? {
        let content = places(model).content
        let last = max(0, rows(columns: content.columns).count - content.rows)
        return Browser.row(after: key, first, last: last, page: content.rows - 1)
    }

    func spoken(_ model: Model) -> SpokenOverlay {
        let lines = rows(columns: 1_000).map(\.text)
        let more = lines.count - EditPlan.maximumSpokenLines
        return SpokenOverlay(
            dialog(model),
            body: lines.prefix(EditPlan.maximumSpokenLines)
                + (more > 0 ? ["and \(Figures.count(more)) more lines"] : []))
    }

    func dialog(_ model: Model) -> Dialog {
        let screen = OverlayPlaces.dialogs(model)
        let columns = max(20, min(110, screen.columns - 4))
        let isNew = edit.replacing == nil
        var body = ["\(facts), in \(TitleView.name(of: draft.entry.archive, model))"]
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
        let available = screen.rows - (isSmall ? 2 : 5 + body.count)
        return Dialog(
            title: (isNew ? "New entry " : "Change ") + edit.name + "?", body: isSmall ? [] : body,
            buttons: ["Cancel", "Store"], selectedButton: button,
            contentRows: max(1, min(rows(columns: columns - 4).count, available)), maximumColumns: columns)
    }

    /// `2 lines removed, 1 added; 214 B as CBOR`
    private var facts: String {
        let size = Figures.bytes(UInt64(edit.bytes.count))
        let form = form == .cbor ? "CBOR" : form == .text ? "text" : "JSON"
        let lines =
            edit.replacing == nil
            ? Figures.count(diff.added, "line", "lines")
            : "\(Figures.count(diff.removed, "line", "lines")) removed, \(Figures.count(diff.added)) added"
        return "\(lines); \(size) as \(form)"
    }

    func draw(_ model: Model, into frame: inout Frame) {
        drawDialog(model, into: &frame)
        let look = model.look
        let places = places(model)
        let content = places.content
        let rows = rows(columns: content.columns)
        let first = max(0, min(self.first, rows.count - content.rows))
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
