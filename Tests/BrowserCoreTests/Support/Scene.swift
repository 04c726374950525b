import BrowserCore
import Foundation
import StoreInspection
import TerminalKit

/// A screen of the golden files, and the keys that lead to it.
struct Scene: Sendable, CustomStringConvertible {
    let name: String
    let keys: String
    var store: String? = Fixture.storePath
    var isReadOnly = false
    var prepare: @Sendable (MockSource) -> Void = { _ in }
    /// Replaces programs that would use the terminal.
    var programs: @Sendable (TerminalProgram) -> Result<Int32, SourceError> = { _ in .success(0) }
    /// Refreshes after the keys, a second apart.
    var refreshes = 0
    /// Changes the store before each of them.
    var meanwhile: @Sendable (MockSource) -> Void = { _ in }
    /// Whether it shows durations, which only wide screens have on separate lines.
    var isTimed = false

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
        Scene(
            name: "no entries", keys: "jj<enter>",
            prepare: { $0.with { $0.summaries["Trace"]?.kind = .cache } }),
        Scene(name: "columns to choose", keys: "j<enter>C<down><down><down><enter>"),
        Scene(name: "sorted by a property", keys: "j<enter>sssssr", prepare: Fixture.chooseColumns),
        Scene(
            name: "where", keys: "j<enter>Wpopulation > 2000000 and name starts with",
            prepare: Fixture.chooseColumns),
        Scene(name: "entries that meet a condition", keys: "j<enter>Wpopulation > 2000000<enter>"),
        Scene(name: "count by", keys: "j<enter>fp"),
        Scene(name: "counted", keys: "j<enter>fcapital<enter>"),
        Scene(name: "groups", keys: "jz"),
        Scene(
            name: "saved queries", keys: "jQfind population > 1<ctrl+o>",
            prepare: { source in
                source.with { state in
                    state.savedQueries = [
                        SavedQuery(name: "large ones", archive: "City", text: "find population > 2000000"),
                        SavedQuery(name: "大きい", archive: "Blob", text: "sort @size desc | limit 10"),
                    ]
                }
            }),
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
        Scene(name: "archives with events", keys: "j", prepare: Fixture.addEvents, refreshes: 3),
        Scene(
            name: "footprint over its bound", keys: "",
            prepare: { $0.with { $0.summaries["City"]?.footprint = 2_100_000 } }),
        Scene(name: "entries with events", keys: "j<enter>t", prepare: Fixture.addEvents),
        Scene(name: "events", keys: "Ekk", prepare: Fixture.addEvents),
        Scene(
            name: "events lost and filtered", keys: "E/a<enter>K",
            prepare: { source in
                Fixture.addEvents(source)
                source.with { $0.overwritten["City"] = 2 }
            }),
        Scene(name: "no event passes", keys: "E/zz<enter>", prepare: Fixture.addEvents),
        Scene(name: "an event in full", keys: "Ekkkkkk<enter>", prepare: Fixture.addEvents),
        Scene(name: "processes", keys: "jP"),
        Scene(name: "graphs", keys: "jT", refreshes: 40),
        Scene(name: "one graph, alarm", keys: "jTjA> 1<enter><enter>s", refreshes: 12),
        Scene(name: "no processes", keys: "P", prepare: { $0.with { $0.summaries["City"]?.processes = [] } }),
        Scene(name: "expire", keys: "j<enter>gmmx"),
        Scene(name: "expire, a wrong time", keys: "j<enter>gx<ctrl+u>5<enter>"),
        Scene(name: "expire, idle", keys: "j<enter>gx<up><ctrl+u>30s"),
        Scene(name: "plan of an expiry", keys: "j<enter>gmmx<ctrl+u>1h30m<enter>"),
        Scene(name: "plan of idle ones", keys: "j<enter>gx<up><ctrl+u>30s<enter>"),
        Scene(name: "plan never to expire", keys: "j<enter>jj<enter>x<down><down><enter>"),
        Scene(name: "deleted", keys: "j<enter>gmmDy"),
        Scene(name: "undo", keys: "j<enter>u", prepare: Fixture.addUndoable),
        Scene(name: "undo which", keys: "j<enter>Uj", prepare: Fixture.addUndoable),
        Scene(name: "undone", keys: "j<enter>uy", prepare: Fixture.addUndoable),
        Scene(name: "nothing to undo", keys: "j<enter>u"),
        Scene(name: "messages", keys: "jj<enter>", prepare: { Fixture.addMessages($0) }),
        Scene(name: "messages, scrolled", keys: "jj<enter>kkk", prepare: { Fixture.addMessages($0) }),
        Scene(name: "a message in full", keys: "jj<enter>kk<enter>", prepare: { Fixture.addMessages($0) }),
        Scene(name: "no messages", keys: "jj<enter>"),
        Scene(
            name: "plan to delete all messages", keys: "jj<enter><ctrl+x>Tr",
            prepare: { Fixture.addMessages($0) }),
        Scene(name: "value with a key history", keys: "j<enter>jj<enter>", prepare: Fixture.addEvents),
        Scene(name: "key history", keys: "j<enter>jj<enter>b", prepare: Fixture.addEvents),
        Scene(name: "copy", keys: "j<enter>jy"),
        Scene(name: "copied", keys: "j<enter>jyk"),
        Scene(name: "copy a message", keys: "jj<enter>y", prepare: { Fixture.addMessages($0) }),
        Scene(name: "pipe", keys: "j<enter>|jq"),
        Scene(name: "write", keys: "j<enter>w"),
        Scene(name: "key of a new entry", keys: "j<enter>nOslo"),
        Scene(
            name: "edit", keys: "j<enter>jj<enter>e",
            programs: { Scene.edit($0, "\"capital\": true", "\"capital\": false,\n  \"mayor\": \"小池百合子\"") }),
        Scene(
            name: "edit with a mistake", keys: "j<enter>jj<enter>e",
            programs: { Scene.edit($0, "\"capital\": true", "capital: true") }),
        Scene(
            name: "new entry", keys: "j<enter>nOslo<enter>",
            programs: { Scene.edit($0, "", "{\n  \"name\": \"Oslo\"\n}\n") }),
        Scene(
            name: "store removed", keys: "j<enter>jR", refreshes: 1,
            meanwhile: { $0.with { $0.problem = "there is no store at \(Fixture.storePath)" } }),
        Scene(
            name: "query", keys: "jQfind population > 1000000 | sort population desc<enter>j",
            prepare: Scene.answerQueries, isTimed: true),
        Scene(
            name: "query, changed and removed since",
            keys: "jQfind population > 1000000 | sort population desc<enter>j",
            prepare: Scene.answerQueries, refreshes: 1,
            meanwhile: { source in
                source.record("Bandung", Array("{}".utf8), archive: "City", at: Fixture.start)
                source.remove("東京都", archive: "City")
            }, isTimed: true),
        Scene(
            name: "explain", keys: "jQfind population > 1000000 | sort population desc | limit 3<enter>X",
            prepare: Scene.answerQueries, isTimed: true),
        Scene(name: "find in a tree", keys: "j<enter><enter>/jakarta"),
        Scene(name: "found in a tree", keys: "j<enter><enter>/jakarta<enter>n"),
        Scene(name: "found in a text", keys: "<enter>j<enter>/zeile<enter>"),
        Scene(name: "found in bytes", keys: "<enter><enter>/0x2021<enter>"),
        Scene(name: "not found", keys: "j<enter><enter>/nowhere<enter>"),
        Scene(
            name: "log filtered", keys: "jj<enter>/warning|tokyo|panic<enter>",
            prepare: { Fixture.addMessages($0) }),
        Scene(name: "log, a mistake", keys: "jj<enter>/pan(ic", prepare: { Fixture.addMessages($0) }),
        Scene(
            name: "found in a log", keys: "jj<enter>gf!^1|panic<enter>n", prepare: { Fixture.addMessages($0) }
        ),
        Scene(name: "several stores", keys: "hk<enter>h", prepare: Scene.rememberStores),
        Scene(name: "the second store", keys: "hk<enter>j<enter>", prepare: Scene.rememberStores),
        Scene(name: "favorites and recent ones", keys: "j", store: nil, prepare: Scene.rememberStores),
        Scene(
            name: "plan beyond what is kept", keys: "j<enter>gmmD", prepare: Scene.keepLittle, refreshes: 3),
        Scene(name: "columns scrolled", keys: "j<enter>p<gt><gt>", prepare: Fixture.chooseColumns),
        Scene(name: "advice", keys: "ja<right>j", prepare: { Fixture.addAdvice($0) }),
        Scene(
            name: "advice with a doubt, last limit", keys: "ja<end>",
            prepare: { Fixture.addAdvice($0, measured: 0.4) }),
        Scene(name: "no recorded requests", keys: "ja"),
        Scene(
            name: "resize to the marked limit", keys: "ja<right><enter>", prepare: { Fixture.addAdvice($0) }),
        Scene(name: "plan of a resize", keys: "ja<right><enter><enter>", prepare: { Fixture.addAdvice($0) }),
        Scene(name: "help, its legend", keys: "j<enter>?that"),
    ]

    /// Without a store the screen reports the failure.
    private static func answerQueries(_ source: MockSource) { try? Fixture.addQueries(source) }

    /// Adds a favorite in another folder, and times of opening.
    private static func rememberStores(_ source: MockSource) {
        source.with { state in
            state.stores[1].isFavorite = true
            state.stores[0].opened = Fixture.start.adding(seconds: -90)
            var elsewhere = StoreSummary(
                name: "backup", path: "/mnt/disk/backup", archives: 2, entries: 1_204, diskBytes: 241_000)
            (elsewhere.isElsewhere, elsewhere.opened) = (true, Fixture.start.adding(seconds: -86_400 * 3))
            state.stores = [state.stores[1], state.stores[0], state.stores[2], elsewhere]
        }
    }

    /// Leaves hardly any undo space.
    private static func keepLittle(_ source: MockSource) {
        source.with { state in
            state.summaries["City"]?.undoBudget.values = 4_194_304
            state.summaries["City"]?.undoBudget.valuesLeft = 100
        }
    }

    /// The screen's text without durations and their bars, which vary.
    static func withoutTimes(_ text: String) -> String {
        let bars = Set("█▉▊▋▌▍▎▏#")
        return withoutFigures(text).split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.contains("TIME") ? String(line.map { bars.contains($0) ? " " : $0 }) : String(line)
        }.joined(separator: "\n")
    }

    private static func withoutFigures(_ text: String) -> String {
        text.replacing(#/ *\b[0-9][0-9.,]* (µs|ms|s)\b *(?<end>\n?)/#) { match in
            let isEnd = !match.output.end.isEmpty
            let word = " TIME"
            let columns = match.output.0.count - (isEnd ? 1 : 0)
            // Later columns stay in place.
            return isEnd ? word + "\n" : word + String(repeating: " ", count: max(0, columns - word.count))
        }
    }

    /// Replaces text in the editor's file.
    private static func edit(
        _ program: TerminalProgram, _ old: String, _ new: String
    ) -> Result<Int32, SourceError> {
        let text = (try? String(contentsOfFile: program.arguments[0], encoding: .utf8)) ?? ""
        let edited = old.isEmpty ? new : text.replacingOccurrences(of: old, with: new)
        try? edited.write(toFile: program.arguments[0], atomically: false, encoding: .utf8)
        return .success(0)
    }

    func browser(columns: Int, rows: Int, look: Look) throws -> HeadlessBrowser {
        let source = Fixture.source()
        prepare(source)
        let clock = TestClock()
        var browser = try Fixture.browser(
            source, columns: columns, rows: rows, look: look, store: store, isReadOnly: isReadOnly,
            clock: clock,
            keys: keys, programs: programs)
        for second in 0..<refreshes {
            meanwhile(source)
            clock.advance(1)
            source.with { state in
                state.summaries["City"]?.hits += UInt64(40 + second * 7 % 23)
                state.summaries["City"]?.misses += UInt64(second % 5)
                state.summaries["City"]?.evictions += UInt64(second % 3)
            }
            browser.refresh()
        }
        return browser
    }
}
