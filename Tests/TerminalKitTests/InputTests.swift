import TestSupport
import TerminalKit
import Testing

@Suite struct KeySpellingTests {
    @Test(arguments: [
        ("x", Key.character("x")), ("X", .character("X")), ("ctrl+x", .control("x")),
        ("ctrl+X", .control("x")),
        ("enter", Key(.enter)), ("ESC", Key(.escape)), ("f12", Key(.function(12))), ("f", .character("f")),
        ("alt+shift+up", Key(.up, modifiers: [.alt, .shift])), ("shift+tab", Key(.backTab)),
        ("space", .character(" ")), ("ctrl++", .control("+")), ("+", .character("+")), ("漢", .character("漢")),
        ("pgdn", Key(.pageDown)), ("<", .character("<")), ("comma", .character(",")),
        // Regression: a combining accent alone joined the plus sign before it.
        ("alt+\u{301}", Key(.character("\u{301}"), modifiers: [.alt])),
    ])
    func parsesKey(_ spelling: String, _ key: Key) throws {
        #expect(try Key(parsing: spelling) == key)
        #expect(try Key(parsing: key.description) == key)
    }

    @Test(arguments: [("", 0), ("ctrl+", 0), ("ctrl+enterr", 5), ("foo", 0), ("f0", 0), ("f99", 0)])
    func reportsPositionOfInvalidKey(_ spelling: String, _ position: Int) {
        let error = #expect(throws: KeySpellingError.self) { try Key(parsing: spelling) }
        #expect(error?.position == position)
        #expect(error?.reason.isEmpty == false)
    }

    @Test func parsesScript() throws {
        let keys = try Key.script("jj<enter>/f 漢<lt><ctrl+w><esc>>")
        #expect(
            keys.map(\.description) == ["j", "j", "enter", "/", "f", "space", "漢", "<", "ctrl+w", "esc", ">"])
        #expect(try Key.script("").isEmpty)
    }

    @Test(arguments: [("ab<ente>", 3), ("a<enter", 1), ("<>", 1), ("<ctrl+qq>", 6)])
    func reportsPositionInInvalidScript(_ script: String, _ position: Int) {
        let error = #expect(throws: KeySpellingError.self) { try Key.script(script) }
        #expect(error?.position == position)
    }
}

@Suite struct InputDecoderTests {
    private func decode(_ text: String, flushing: Bool = true) -> [InputEvent] {
        var decoder = InputDecoder()
        return decoder.feed(Array(text.utf8)) + (flushing ? decoder.flush() : [])
    }

    @Test(arguments: [
        ("a", "a"), ("漢", "漢"), ("\r", "enter"), ("\n", "enter"), ("\t", "tab"), ("\u{7f}", "backspace"),
        ("\u{8}", "backspace"), ("\u{1}", "ctrl+a"), ("\0", "ctrl+space"), ("\u{1c}", "ctrl+\\"),
        ("\u{1b}", "esc"),
        ("\u{1b}x", "alt+x"), ("\u{1b}漢", "alt+漢"), ("\u{1b}\u{7f}", "alt+backspace"), ("\u{1b}[A", "up"),
        ("\u{1b}OA", "up"), ("\u{1b}[1;5C", "ctrl+right"), ("\u{1b}[1;3D", "alt+left"),
        ("\u{1b}O5C", "ctrl+right"),
        ("\u{1b}[H", "home"), ("\u{1b}[1~", "home"), ("\u{1b}[7~", "home"), ("\u{1b}OH", "home"),
        ("\u{1b}[F", "end"), ("\u{1b}[4~", "end"), ("\u{1b}[5~", "pageup"), ("\u{1b}[6;2~", "shift+pagedown"),
        ("\u{1b}[3~", "delete"),
        ("\u{1b}[2~", "insert"), ("\u{1b}[Z", "backtab"), ("\u{1b}OP", "f1"), ("\u{1b}[15~", "f5"),
        ("\u{1b}[24~", "f12"), ("\u{1b}[[B", "f2"), ("\u{1b}[1;2P", "shift+f1"), ("\u{1b}[97;5u", "ctrl+a"),
        ("\u{1b}[27;5;13~", "ctrl+enter"),
        ("\u{1b}[9;2u", "backtab"), ("\u{1b}[", "alt+["), ("\u{1b}O", "alt+O"),
    ])
    func decodesKey(_ text: String, _ key: String) throws {
        #expect(decode(text) == [.key(try Key(parsing: key))])
    }

    @Test func decodesInputSplitAnywhere() {
        let text = "a\u{1b}[1;5C漢\u{1b}[<0;3;4Mz\u{1b}[200~p\u{1b}[A漢\u{1b}[201~\u{1b}OA"
        let whole = decode(text, flushing: false)
        #expect(whole.count == 7)
        var decoder = InputDecoder()
        #expect(Array(text.utf8).flatMap { decoder.feed([$0]) } == whole)
    }

    @Test func twoEscapesAreTwoKeys() {
        #expect(decode("\u{1b}\u{1b}") == [.key(Key(.escape)), .key(Key(.escape))])
        #expect(decode("\u{1b}\u{1b}[A") == [.key(Key(.escape)), .key(Key(.up))])
    }

    @Test func loneEscapeWaits() {
        var decoder = InputDecoder()
        #expect(decoder.feed([0x1b]).isEmpty)
        #expect(decoder.deadline == 200)
        #expect(decoder.flush() == [.key(Key(.escape))])
        #expect(decoder.deadline == nil)
    }

    /// Regression: on a line that stalled within a character, the character was dropped like an incomplete escape sequence.
    @Test func waitsForRestOfCharacter() {
        var decoder = InputDecoder()
        let bytes = Array("漢".utf8)
        #expect(decoder.feed(bytes[..<1]).isEmpty && decoder.deadline == nil)
        #expect(decoder.feed(bytes[1...]) == [.key(.character("漢"))])
        #expect(decoder.feed(bytes[..<2]).isEmpty && decoder.deadline == nil)
        #expect(decoder.feed([0x61]) == [.key(.character("a"))])
    }

    @Test func pasteIsOneEvent() {
        #expect(
            decode("\u{1b}[200~a\u{1b}[Ab\nq\u{1b}[201~x") == [
                .paste("a\u{1b}[Ab\nq"), .key(.character("x")),
            ])
        var decoder = InputDecoder()
        _ = decoder.feed(Array("\u{1b}[200~".utf8))
        _ = decoder.feed([UInt8](repeating: 0x61, count: InputDecoder.maximumPasteLength + 100))
        #expect(
            decoder.feed(Array("\u{1b}[201~".utf8)) == [
                .paste(String(repeating: "a", count: InputDecoder.maximumPasteLength))
            ])
    }

    /// Regression: a paste without an end swallowed all input without a hint, and Ctrl-C ended the program.
    @Test("reports an incomplete paste, and ctrl+c discards it") func reportsUnfinishedPaste() {
        var decoder = InputDecoder()
        #expect(decoder.feed(Array("\u{1b}[200~half".utf8), at: 100).isEmpty)
        #expect(decoder.feed(Array("q".utf8), at: 1_100).isEmpty)
        #expect(decoder.deadline == 3_100)
        #expect(decoder.flush() == [.pasteUnfinished])
        #expect(decoder.feed(Array("q".utf8), at: 4_000).isEmpty)
        #expect(decoder.deadline == nil && decoder.flush().isEmpty)
        #expect(decoder.feed([0x03], at: 5_000) == [.pasteDropped])
        #expect(decoder.feed([0x03], at: 6_000) == [.key(.control("c"))])
        #expect(decoder.feed(Array("q".utf8), at: 7_000) == [.key(.character("q"))])
        #expect(decode("\u{1b}[200~a\u{3}b\u{1b}[201~") == [.paste("a\u{3}b")])
        // The next unfinished paste is reported again, and is complete nevertheless.
        #expect(decoder.feed(Array("\u{1b}[200~a".utf8), at: 8_000).isEmpty)
        #expect(decoder.flush() == [.pasteUnfinished])
        #expect(decoder.feed(Array("b\u{1b}[201~".utf8), at: 20_000) == [.paste("ab")])
    }

    @Test func mouseReports() {
        func mouse(_ kind: MouseEvent.Kind, _ button: MouseEvent.Button, _ modifiers: Modifiers = [])
            -> [InputEvent]
        {
            [
                .mouse(
                    MouseEvent(kind: kind, button: button, at: Point(column: 4, row: 9), modifiers: modifiers)
                )
            ]
        }
        #expect(decode("\u{1b}[<0;5;10M") == mouse(.press, .left))
        #expect(decode("\u{1b}[<2;5;10m") == mouse(.release, .right))
        #expect(decode("\u{1b}[<32;5;10M") == mouse(.drag, .left))
        #expect(decode("\u{1b}[<64;5;10M") == mouse(.wheelUp, .none))
        #expect(decode("\u{1b}[<81;5;10M") == mouse(.wheelDown, .none, .control))
        #expect(decode("\u{1b}[M %*") == mouse(.press, .left))
        #expect(decode("\u{1b}[M#%*") == mouse(.release, .none))
        #expect(decode("\u{1b}[<35;5;10M") == [])
        #expect(decode("\u{1b}[<0;0;10M") == [])
        #expect(decode("\u{1b}[I\u{1b}[O") == [.focus(true), .focus(false)])
    }

    @Test func dropsMeaninglessBytes() {
        #expect(decode("\u{1b}[?1;2c\u{1b}[99999999999;1~x") == [.key(.character("x"))])
        var decoder = InputDecoder()
        #expect(decoder.feed([0xff, 0x80, 0xc3, 0x28]) == [.key(.character("("))])
    }

    /// Regression: a terminal's late reply to a pager's query was decoded as keys.
    @Test(arguments: [
        "\u{1b}]11;rgb:0000/0000/0000\u{7}", "\u{1b}]11;rgb:0000/0000/0000\u{1b}\\",
        "\u{1b}P>|tmux 3.3a\u{1b}\\",
        "\u{1b}_Gi=31;OK\u{1b}\\", "\u{1b}]52;c;" + String(repeating: "QUFB", count: 1000) + "\u{7}",
    ])
    func ignoresTerminalReplies(answer: String) {
        for length in [1, 2, 3, 7, 10_000] {
            var decoder = InputDecoder()
            var events: [InputEvent] = []
            var rest = Array((answer + "q").utf8)[...]
            while !rest.isEmpty {
                events += decoder.feed(rest.prefix(length))
                rest = rest.dropFirst(length)
            }
            #expect(events == [.key(.character("q"))], "\(length)")
        }
    }

    @Test("drops an unterminated reply, but no bytes that arrive later") func abandonsUnfinishedReply() {
        var decoder = InputDecoder()
        #expect(decoder.feed(Array("\u{1b}]11;rgb".utf8)).isEmpty && decoder.deadline != nil)
        #expect(decoder.flush().isEmpty && decoder.deadline == nil)
        #expect(decoder.feed(Array("q".utf8)) == [.key(.character("q"))])
        #expect(decoder.feed(Array("\u{1b}]11;\u{1b}[A".utf8)) == [.key(Key(.up))])
        #expect(decoder.feed(Array("\u{1b}]".utf8)).isEmpty)
        #expect(decoder.flush() == [.key(Key(.character("]"), modifiers: .alt))])
    }

    /// Regression: all keys that followed quickly were lost.
    @Test(
        "decodes keys after an Alt character that could begin a control string",
        arguments: ["]", "P", "X", "^", "_"] as [Character])
    func keyAfterAltWithStringIntroducer(character: Character) {
        var decoder = InputDecoder()
        #expect(decoder.feed(Array("\u{1b}\(character)".utf8), at: 1_000).isEmpty)
        let alt = InputEvent.key(Key(.character(character), modifiers: .alt))
        #expect(decoder.feed([0x6a], at: 1_080) == [alt, .key(.character("j"))])
        #expect(decoder.feed([0x6a], at: 1_160) == [.key(.character("j"))])
        // Bytes read at once are a string, whichever character introduces it.
        #expect(decoder.feed(Array("\u{1b}\(character)jj\u{7}".utf8), at: 2_000).isEmpty)
        #expect(decoder.deadline == nil)
    }

    /// Regression: keys after a string that CAN, SUB or Ctrl-C had ended were lost.
    @Test func cancelsString() {
        let keys: [InputEvent] = [.key(.character("j")), .key(.character("j"))]
        for end in ["\u{18}", "\u{1a}", "\u{1b}\u{18}"] {
            #expect(decode("\u{1b}]11;x\(end)jj", flushing: false) == keys)
        }
        var decoder = InputDecoder()
        #expect(decoder.feed(Array("\u{1b}]11;x".utf8), at: 1_000).isEmpty)
        #expect(decoder.feed([0x03], at: 1_100) == [.key(.control("c"))])
        #expect(decoder.feed(Array("jj".utf8), at: 1_200) == keys)
    }

    /// Regression: the rest of a reply that a slow line delayed by 0.2 seconds was decoded as keys.
    @Test(arguments: [
        ("\u{1b}]11;rg", "b:dd/ee/ff\u{7}"), ("\u{1b}P>|tm", "ux Dy\u{1b}\\"),
        ("\u{1b}]11;rgb:dd/ee/ff\u{1b}", "\\"),
    ])
    func waitsForInterruptedReply(_ beginning: String, _ rest: String) {
        var decoder = InputDecoder()
        #expect(decoder.feed(Array(beginning.utf8), at: 1_000).isEmpty)
        #expect(decoder.deadline == 2_000)
        #expect(decoder.feed(Array(rest.utf8), at: 1_900).isEmpty)
        #expect(decoder.deadline == nil)
    }

    @Test("drops an unterminated control string after three seconds, even while keys are typed")
    func abandonsUnfinishedString() {
        var decoder = InputDecoder()
        #expect(decoder.feed(Array("\u{1b}]11;".utf8), at: 1_000).isEmpty)
        for time in stride(from: UInt64(1_500), through: 3_500, by: 500) {
            #expect(decoder.feed([0x6a], at: time).isEmpty)
        }
        #expect(decoder.deadline == 4_000)
        #expect(decoder.flush().isEmpty)
        #expect(decoder.feed([0x6a], at: 4_100) == [.key(.character("j"))])
    }

    /// Regression: a reply that arrived a moment after its ESC was decoded as Escape and keys.
    @Test(arguments: ["]11;rgb:edbc/0000/0000\u{7}", "P>|tmux 3.3a\u{1b}\\"])
    func joinsReplyWithEarlierEscape(rest: String) {
        var decoder = InputDecoder()
        #expect(decoder.feed([0x1b], at: 1_000).isEmpty)
        #expect(decoder.feed(Array(rest.utf8), at: 1_060).isEmpty && decoder.deadline == nil)
        #expect(decoder.feed([0x1b], at: 2_000) + decoder.flush() == [.key(Key(.escape))])
        #expect(decoder.feed(Array(rest.utf8), at: 2_250).isEmpty && decoder.deadline == nil)
        // A reply without an end is typed text.
        #expect(decoder.feed([0x1b], at: 3_000).isEmpty)
        #expect(
            decoder.feed(Array("Pj".utf8), at: 3_060) == [
                .key(Key(.escape)), .key(.character("P")), .key(.character("j")),
            ])
    }

    /// Regression: the late rest of a sequence was typed if its first two bytes had been decoded as a key.
    @Test(arguments: [
        ("\u{1b}P", "1$r0 q\u{1b}\\", [InputEvent]()), ("\u{1b}]", "11;rgb:dd/dd/dd\u{7}", []),
        ("\u{1b}", "[?62;22c", []), ("\u{1b}[", "200~Dy\u{1b}[201~", [.paste("Dy")]),
        ("\u{1b}P", "jk", [.key(.character("j")), .key(.character("k"))]),
    ])
    func dropsLateRestOfSequence(_ beginning: String, _ rest: String, _ events: [InputEvent]) {
        var decoder = InputDecoder()
        #expect(decoder.feed(Array(beginning.utf8), at: 1_000).isEmpty)
        _ = decoder.flush()
        #expect(decoder.feed(Array(rest.utf8), at: 2_300) == events)
    }

    /// Regression: the last byte of an arrow key was typed on a line that delivers bytes 300 ms apart.
    @Test(arguments: [("[", "B", Key(.down)), ("O", "P", Key(.function(1)))])
    func waitsForLastByteOfKey(_ introducer: String, _ last: String, _ key: Key) {
        var decoder = InputDecoder()
        #expect(decoder.feed([0x1b], at: 1_000).isEmpty && decoder.deadline == 1_200)
        #expect(decoder.feed(Array(introducer.utf8), at: 1_150).isEmpty && decoder.deadline == 2_150)
        #expect(decoder.feed(Array(last.utf8), at: 1_450) == [.key(key)])
    }

    @Test("waits for the parameters of a sequence, including a paste marker") func waitsForParameters() {
        var decoder = InputDecoder()
        #expect(decoder.feed(Array("\u{1b}[1;".utf8), at: 1_000).isEmpty && decoder.deadline == 2_000)
        #expect(decoder.feed(Array("5D".utf8), at: 1_900) == [.key(Key(.left, modifiers: .control))])
        #expect(decoder.feed(Array("\u{1b}[".utf8), at: 3_000).isEmpty)
        _ = decoder.flush()
        #expect(decoder.feed(Array("200~Da".utf8), at: 3_300).isEmpty)
        #expect(
            decoder.feed(Array("y\u{1b}[201~j".utf8), at: 3_400) == [.paste("Day"), .key(.character("j"))])
    }

    @Test func terminfoSequencesHavePriority() {
        var decoder = InputDecoder(terminalSequences: [Array("\u{1b}[A".utf8): Key(.function(7))])
        #expect(decoder.feed(Array("\u{1b}[A\u{1b}[B".utf8)) == [.key(Key(.function(7))), .key(Key(.down))])
    }

    @Test func decodesRandomBytesSplitAnywhere() {
        let alphabet: [UInt8] =
            Array("\u{1b}[]O<;:0123456789~MmAuIZ200201 \u{7f}\u{0}漢é".utf8) + [0xff, 0x80, 0xf0]
        for seed in UInt64(0)..<2000 {
            var random = SeededGenerator(seed: seed)
            let bytes = (0..<40).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            var whole = InputDecoder()
            let events = whole.feed(bytes) + whole.flush()
            var pieces = InputDecoder()
            var other = bytes.flatMap { pieces.feed([$0]) }
            other += pieces.flush()
            #expect(events == other, "seed \(seed)")
            #expect(whole.deadline == nil, "seed \(seed)")
        }
    }

    /// Regression: an arrow key whose bytes arrived 50 ms apart was decoded as Escape and two characters.
    @Test(arguments: [
        ("[A", Key(.up)), ("OB", Key(.down)), ("[1;5C", Key(.right, modifiers: .control)),
        ("[5~", Key(.pageUp)),
    ])
    func joinsTwoPiecesOfKey(_ rest: String, _ key: Key) {
        var decoder = InputDecoder()
        #expect(decoder.feed([0x1b], at: 1_000).isEmpty && decoder.deadline == 1_200)
        #expect(decoder.feed(Array(rest.utf8), at: 1_070) == [.key(key)])
        // Escape was reported already; the late rest still isn't text.
        #expect(decoder.feed([0x1b], at: 2_000) + decoder.flush() == [.key(Key(.escape))])
        #expect(decoder.feed(Array(rest.utf8), at: 2_250) == [.key(key)])
        #expect(decoder.feed(Array("[A".utf8), at: 2_250) == [.key(.character("[")), .key(.character("A"))])
    }

    /// Alt sends both bytes at once.
    @Test func escapeAndCharacterAreTwoKeys() {
        var decoder = InputDecoder()
        #expect(decoder.feed([0x1b], at: 1_000).isEmpty)
        #expect(decoder.feed([0x6a], at: 1_070) == [.key(Key(.escape)), .key(.character("j"))])
        #expect(decoder.feed([0x1b, 0x6a]) == [.key(Key(.character("j"), modifiers: .alt))])
    }

    @Test func clicks() {
        var clicks = ClickRecognizer()
        let point = Point(column: 1, row: 1)
        func feed(_ kind: MouseEvent.Kind, _ point: Point, _ time: UInt64) -> [MouseEvent.Kind] {
            clicks.events(for: MouseEvent(kind: kind, at: point), at: time).map(\.kind)
        }
        #expect(feed(.press, point, 0) == [.press])
        #expect(feed(.release, point, 50) == [.release, .click])
        _ = feed(.press, point, 200)
        #expect(feed(.release, point, 250) == [.release, .doubleClick])
        _ = feed(.press, point, 300)
        #expect(feed(.release, point, 350) == [.release, .click])
        _ = feed(.press, point, 1000)
        #expect(feed(.release, point, 1050) == [.release, .click])
        _ = feed(.press, point, 1100)
        #expect(feed(.release, Point(column: 2, row: 1), 1150) == [.release])
    }
}
