import ServerInspection
import StorageEngine
import StoreInspection
import TerminalKit

struct CopyMenu: ListOverlay {
    var items: [CopyItem]
    var selected = 0
    var first = 0

    var keys: [(key: String, title: String)] { [("enter", "Copy"), ("esc", "Close"), ("up/down", "Select")] }

    func rowCount(_ model: Model) -> Int { items.count }

    func area(_ model: Model) -> Rect { OverlayPlaces.listBox(columns: 76, rows: items.count, model).list }

    func press(_ model: inout Model, _ key: Key) -> [Effect] {
        var menu = self
        switch key {
        case Key(.escape), .character("q"), .character("y"):
            model.overlay = nil
            return []
        case Key(.enter): return Browser.copy(&model, items[selected])
        default:
            if let item = items.first(where: { key == .character($0.letter) }) {
                return Browser.copy(&model, item)
            }
            guard let row = Browser.row(after: key, selected, last: items.count - 1) else {
                return Browser.reportUnusedKey(&model, key)
            }
            menu.selected = row
        }
        return menu.show(&model)
    }

    func spoken(_ model: Model) -> SpokenOverlay {
        let item = items.indices.contains(selected) ? items[selected] : nil
        return SpokenOverlay(["Copy"], item.map { "\($0.letter): \($0.name), \($0.preview)" })
    }

    func draw(_ model: Model, into frame: inout Frame) {
        let look = model.look
        frame.cursor = nil
        let places = OverlayPlaces.listBox(columns: 76, rows: items.count, model)
        let widest = items.map { TextWidth.width(of: $0.name) }.max() ?? 0
        let rows = items.map { item in
            let available = places.list.columns - widest - 6
            var spans = [Span("\(item.letter)  ", look[.key]), Span(TextWidth.pad(item.name, to: widest))]
            if available >= 10 {
                let preview = look.cut(item.preview, to: available, .middle)
                spans.append(Span("  " + preview, look[.dim]))
            }
            return List.Item(spans)
        }
        OverlayView.drawList(
            rows, selected: selected, first: first, in: places, title: "Copy", into: &frame, look)
    }
}

struct CopyItem: Sendable {
    enum Content: Sendable {
        case ready(String)
        /// A part of each entry, with a line break between them.
        case read([EntryAddress], Part)
        case absent(String)
    }

    enum Part: Sendable {
        case key
        /// Text, or hexadecimal digits of binary values.
        case value
        case row
    }

    let letter: Character
    /// Follows `Copied`.
    let name: String
    let content: Content

    init(_ letter: Character, _ name: String, _ content: Content) {
        (self.letter, self.name, self.content) = (letter, name, content)
    }

    init(_ letter: Character, _ name: String, _ text: String) { self.init(letter, name, .ready(text)) }

    static func items(of entry: EntryAddress) -> [CopyItem] {
        let archive = entry.archive
        return [
            CopyItem("k", "the key", entry.key),
            CopyItem("v", "the value", .read([entry], .value)),
            CopyItem("j", "the row as JSON", .read([entry], .row)),
            ShellWord.isPassable(entry.key)
                ? CopyItem(
                    "c", "the shell command",
                    ShellWord.vellum("get", [archive.name, entry.key], store: archive.store))
                : CopyItem("c", "the shell command", .absent("shells can't pass the NUL in the key")),
            CopyItem("s", "the Swift code", archiveSource(archive) + ".peek(\(literal(entry.key)))"),
            path(archive),
        ]
    }

    static func items(of marks: Marks, in archive: ArchiveAddress, _ model: Model) -> [CopyItem] {
        let entries = marks.list.map { EntryAddress($0.key, in: archive) }
        let count = "the " + Figures.count(marks.count, "marked", "marked")
        let noun = marks.count == 1 ? ("key", "value", "row") : ("keys", "values", "rows")
        return [
            CopyItem("k", "\(count) \(noun.0)", .read(entries, .key)),
            CopyItem("v", "\(count) \(noun.1)", .read(entries, .value)),
            CopyItem("j", "\(count) \(noun.2) as JSON", .read(entries, .row)),
            CopyItem("c", "the shell command", CommandLine.words(for: model)),
            path(archive),
        ]
    }

    static func path(_ archive: ArchiveAddress, isRingFile: Bool = false) -> CopyItem {
        ServerAddress.isURL(archive.store)
            ? CopyItem("p", "the server's address", archive.store)
            : CopyItem("p", "the path of the \(isRingFile ? "file" : "store")", archive.store)
    }

    static func archiveSource(_ archive: ArchiveAddress) -> String {
        "try Store.open(at: \(literal(archive.store)), mode: .readOnly).archive(named: \(literal(archive.name)))"
    }

    static func messageSource(_ archive: ArchiveAddress, isRingFile: Bool) -> String {
        guard isRingFile else { return archiveSource(archive) + ".messages(most: 100)" }
        return "try RingFile(path: \(literal(archive.store)), maximumBytes: 0, overwritesOldMessages: false, "
            + "isReadOnly: true).messages()"
    }

    private static func literal(_ text: String) -> String { text.debugDescription }

    var preview: String {
        switch content {
        case .ready(let text): text
        case .read(_, .key): "one per line"
        case .read(_, .value): "text, or hexadecimal if it is binary"
        case .read(_, .row): "as printed by vellum get --json --meta"
        case .absent(let reason): reason
        }
    }
}
