import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import TestSupport
import Testing

@Suite struct RecordingTests {
    /// A manual clock.
    private final class Hand {
        var now = ContinuousClock.now
        func pass(_ seconds: Double) { now = now.advanced(by: .seconds(seconds)) }
    }

    private static let look = Look(theme: Theme(.dark, depth: .mono))
    private let folder = EngineSourceTests.Folder()
    private var path: String { folder.path + "/a.cast" }

    private func frame(_ text: String, columns: Int = 10, rows: Int = 3) -> Frame {
        var frame = Frame(size: Size(columns: columns, rows: rows))
        frame.write(text, at: .zero)
        return frame
    }

    /// Three frames a second apart on a terminal that shrinks, with keys in between.
    private func record() throws -> Recorder {
        let hand = Hand()
        let recorder = try Recorder(
            to: GrowingFile(at: path), size: Size(columns: 10, rows: 3), title: "a test"
        ) { hand.now }
        let terminal = BrowserLoopTests.Terminal([
            .init(whenShown: "first", event: .key(.character("<"))),
            .init(whenShown: "first", event: .key(.control("x"))),
            .init(whenShown: "first", event: .paste("é b")),
        ])
        var recorded = RecordedTerminal(terminal, recorder: recorder)
        recorded.present(frame("first"))
        for _ in 0..<3 { _ = recorded.nextEvent(timeout: 0) }
        hand.pass(1)
        recorded.present(frame("second"))
        recorded.present(frame("first"))
        _ = try recorded.run("less", arguments: [])
        hand.pass(1)
        recorded.present(frame("東京", columns: 6))
        #expect(terminal.frames.count == 4)
        return recorder
    }

    private func replay() throws -> Replay {
        try Replay(Recording(contentsOf: path), named: path, look: Self.look)
    }

    private func text(_ replay: Replay) -> String {
        String(replay.frame.plainText.prefix { $0 != "\n" })
    }

    @Test func replaysRecording() throws {
        #expect(try record().failure == nil)
        var facts = stat()
        #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        let recording = try Recording(contentsOf: path)
        #expect(recording.title == "a test" && !recording.isCut && recording.duration == 2)
        let keys = recording.events.compactMap { if case .keys(let keys) = $0.content { keys } else { nil } }
        #expect(keys == ["<lt>", "<ctrl+x>", "é<space>b"])
        #expect(try Key.script(keys.joined()) == [.character("<"), .control("x")] + "é b".map(Key.character))
        var replay = try replay()
        #expect(text(replay) == "first")
        for (seconds, shown) in [
            (0.9, "first"), (1, "first"), (1.9, "first"), (2, "東京"), (0, "first"), (9, "東京"),
        ] {
            try replay.move(to: seconds)
            #expect(text(replay) == shown)
        }
        #expect(replay.frame.size == Size(columns: 6, rows: 3))
    }

    @Test func keepsExistingFile() throws {
        _ = try record()
        let before = try WholeFile.bytes(of: path, limit: 1 << 20)
        #expect { try GrowingFile(at: path) } throws: {
            "\($0)".contains("already exists; choose another name")
        }
        #expect(try WholeFile.bytes(of: path, limit: 1 << 20) == before)
    }

    @Test func replaysCutRecording() throws {
        _ = try record()
        let bytes = try WholeFile.bytes(of: path, limit: 1 << 20)
        let header = bytes.firstIndex(of: UInt8(ascii: "\n"))!
        for count in header + 1..<bytes.count {
            let part = Array(bytes[..<count])
            let recording = try Recording(part, named: "part")
            #expect(recording.isCut == (part.last != UInt8(ascii: "\n")))
            #expect(recording.events.count == part.count { $0 == UInt8(ascii: "\n") } - 1)
        }
        for count in 0..<header {
            #expect(throws: SourceError.self) { try Recording(Array(bytes[..<count]), named: "part") }
        }
    }

    @Test(arguments: [
        ("", "not a recording"), ("{\"version\":3,\"width\":8,\"height\":2}\n", "not a recording"),
        ("{\"version\":2,\"width\":8,\"height\":2000}\n", "not a recording"),
        ("{\"version\":2,\"width\":8,\"height\":2}\n[1,\"o\"]\n", "line 2"),
        ("{\"version\":2,\"width\":8,\"height\":2}\n[0,\"o\",\"a\"]\n[-1,\"o\",\"a\"]\n", "line 3"),
        ("{\"version\":2,\"width\":8,\"height\":2}\n[1e99,\"o\",\"a\"]\n", "line 2"),
        ("{\"version\":2,\"width\":8,\"height\":2}\n[1,\"r\",\"0x5\"]\n", "line 2"),
        ("{\"version\":2,\"width\":8,\"height\":2}\n[1,\"o\",\"\\u001b]0;x\\u0007\"]\n", "asciinema"),
    ])
    func refusesOtherFiles(content: String, reason: String) throws {
        #expect {
            let recording = try Recording(Array(content.utf8), named: "it")
            var replay = try Replay(recording, named: "it", look: Self.look)
            try replay.move(to: 10)
        } throws: { "\($0)".contains("it") && "\($0)".contains(reason) }
    }

    /// Seeks over many events, compared with playing from the beginning.
    @Test func seekingIsExact() throws {
        var text = "{\"version\":2,\"width\":8,\"height\":2}\n"
        for number in 0..<2_000 { text += "[\(number),\"o\",\"\\u001b[1;1H\(number)\"]\n" }
        let recording = try Recording(Array(text.utf8), named: "it")
        var replay = try Replay(recording, named: "it", look: Self.look)
        for moment in [1_999.0, 3, 700, 255, 256, 257, 511.5, 1_800, 0] {
            var other = try Replay(recording, named: "it", look: Self.look)
            try replay.move(to: moment)
            try other.move(to: moment)
            #expect(replay.frame == other.frame)
            #expect(self.text(replay).hasPrefix("\(Int(moment))"))
        }
    }

    @Test func playsOnTerminal() throws {
        _ = try record()
        let hand = Hand()
        var terminal = BrowserLoopTests.Terminal([
            .init(whenShown: "first", event: .key(.character(" "))),
            .init(whenShown: "paused 0:00.0 of 0:02.0", event: .key(.character("+"))),
            .init(whenShown: "speed 2", event: .key(.character("n"))),
            .init(whenShown: "second", event: .key(.character("n"))),
            .init(whenShown: "first", event: .key(Key(.end))),
            .init(whenShown: "end 0:02.0 of 0:02.0", event: .key(Key(.left))),
            .init(whenShown: "first", event: .resize(Size(columns: 4, rows: 9))),
            .init(whenShown: "firs\n", event: .key(.character("q"))),
        ])
        try ReplayLoop.run(
            Replay(Recording(contentsOf: path), named: path, look: Self.look, now: hand.now),
            terminal: &terminal
        ) { hand.now }
        #expect(terminal.steps.isEmpty)
    }
}
