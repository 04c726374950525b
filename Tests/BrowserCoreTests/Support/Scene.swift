import BrowserCore
import TerminalKit

/// A screen that is worth a picture: how to come to it.
struct Scene: Sendable, CustomStringConvertible {
    let name: String
    let keys: String
    var store: String? = Fixture.storePath
    var isReadOnly = false
    var prepare: @Sendable (MockSource) -> Void = { _ in }
    /// Refreshes after the keys, a second apart.
    var refreshes = 0

    var description: String { name }

    static let all: [Scene] = [
        Scene(name: "stores", keys: "j", store: nil),
        Scene(name: "no stores", keys: "", store: nil, prepare: { $0.with { $0.stores = [] } }),
        Scene(name: "archives", keys: "j", refreshes: 12),
        Scene(name: "no archives", keys: "", prepare: { $0.with { $0.summaries = [:] } }),
        Scene(
            name: "unreadable archive", keys: "",
            prepare: {
                $0.with { $0.summaries["Blob"]?.problem = "Blob/index is damaged at byte 64: run a check" }
            }),
        Scene(name: "entries", keys: "j<enter>jjjj"),
        Scene(name: "the old end", keys: "j<enter>G", isReadOnly: true),
        Scene(name: "filter", keys: "j<enter>/ta"),
        Scene(name: "filter without matches", keys: "j<enter>/zz<enter>"),
        Scene(name: "sorted by size, marked", keys: "j<enter>2jmmj"),
        Scene(name: "no entries", keys: "jj<enter>"),
        Scene(name: "plan", keys: "j<enter>gmmmmD"),
        Scene(name: "help", keys: "j<enter>?<down><down>"),
        Scene(name: "palette", keys: "j<enter>:sor"),
        Scene(name: "command line", keys: "j<enter>c"),
        Scene(name: "value as a tree", keys: "j<enter>jj<enter>jjjjj<enter>"),
        Scene(name: "value of a hostile key", keys: "j<enter>jjjjjj<enter>D"),
        Scene(name: "value as text", keys: "<enter>j<enter>"),
        Scene(name: "value as bytes", keys: "<enter><enter>"),
        Scene(
            name: "unreadable value", keys: "j<enter><enter>",
            prepare: { $0.with { $0.valueProblems["Jakarta"] = "the entry fails its checksum" } }),
        Scene(
            name: "store gone", keys: "j<enter>jR", prepare: { _ in }, refreshes: 1),
    ]

    func browser(columns: Int, rows: Int, look: Look) throws -> HeadlessBrowser {
        let source = Fixture.source()
        prepare(source)
        let clock = TestClock()
        var browser = try Fixture.browser(
            source, columns: columns, rows: rows, look: look, store: store, isReadOnly: isReadOnly,
            clock: clock,
            keys: keys)
        for second in 0..<refreshes {
            if name == "store gone" {
                source.with { $0.problem = "there is no store at \(Fixture.storePath)" }
            }
            clock.advance(1)
            source.with { state in
                state.summaries["City"]?.counters.hits += UInt64(40 + second * 7 % 23)
                state.summaries["City"]?.counters.misses += UInt64(second % 5)
                state.summaries["City"]?.counters.evictions += UInt64(second % 3)
            }
            browser.refresh()
        }
        return browser
    }
}
