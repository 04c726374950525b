import BrowserCore
import StorageEngine

extension Fixture {
    /// Ten minutes of events with keys of all kinds; the oldest were overwritten.
    static func addEvents(_ source: MockSource) {
        func happen(
            _ seconds: Double, _ kind: EventKind, _ key: String?, _ archive: String = "City",
            _ cause: EventCause = .request, _ bytes: Int = 0, _ pid: Int32 = 4121
        ) {
            source.happen(
                kind, key, archive: archive, cause: cause, bytes: bytes, pid: pid,
                at: start.adding(seconds: -seconds))
        }
        happen(600, .record, "Jakarta", "City", .request, 197)
        happen(580, .record, "東京都", "City", .request, 199, 4133)
        happen(520, .update, "Cafe\u{301} de Flore", "City", .request, 210)
        happen(430, .record, "notes", "Blob", .request, 61, 4133)
        happen(300, .promotion, "東京都", "City", .none, 512, 4133)
        happen(240, .deadline, "東京都", "City", .person, 199, 999)
        happen(200, .eviction, "evil\u{1b}[2J\u{7}key", "City", .limit, 188)
        happen(150, .expiry, "👩‍👩‍👧 family", "City", .deadline, 190, 4133)
        happen(90, .delete, "Lima", "City", .person, 205, 999)
        happen(80, .restore, "Lima", "City", .undo, 205, 999)
        happen(20, .rejection, "Atlas of the whole world", "City", .tooLarge, 4_200_000)
        happen(5, .delete, nil, "Blob", .request, 1_204, 4133)
        happen(1, .record, "Bandung", "City", .request, 197)
    }

    /// Messages of all kinds.
    static func addMessages(_ source: MockSource, count: Int = 60) {
        let texts = [
            "GET /cities/jakarta 200 1.4 ms", "東京都 を 読みました", "warning: cache is full",
            "panic: \u{1b}[31mred\u{1b}[0m\nat line 12\nat line 40", "Cafe\u{301} de Flore is open", "",
        ]
        for number in 0..<count {
            source.append(
                "\(number) " + texts[number % texts.count], archive: "Trace",
                at: start.adding(seconds: Double(number - count) * 7))
        }
        source.with { state in
            state.summaries["Trace"]?.diskLimit = 20_000
            state.summaries["Trace"]?.evictions = 1_240
        }
    }

    private static func action(
        _ id: UInt32, _ kind: ReversibleAction.Kind, ago seconds: Double, entries: Int, bytes: UInt64,
        _ pid: Int32, left: UInt64
    ) -> ReversibleAction {
        var action = ReversibleAction(
            id: id, kind: kind, time: start.adding(seconds: -seconds), entries: entries, bytes: bytes)
        action.pid = pid
        action.bytesLeft = left
        return action
    }

    /// An expiry by this process and older actions of others, all undoable.
    static func addUndoable(_ source: MockSource) {
        source.with { state in
            state.undoable["City"] = [
                MockSource.Undoable(
                    action: action(
                        8, .expire, ago: 12, entries: 1, bytes: 190, MockSource.ownPid, left: 61_400),
                    removed: [record("Lima", number: 3, bytes: json("Lima", 3))]),
                MockSource.Undoable(
                    action: action(7, .delete, ago: 130, entries: 1_204, bytes: 241_000, 4133, left: 12_000)),
                MockSource.Undoable(
                    action: action(5, .deadline, ago: 300, entries: 3, bytes: 593, 0, left: 900)),
            ]
            state.nextAction = 9
        }
    }
}
