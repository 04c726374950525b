import Foundation
import Testing

// Who waits in these suites gives up after 20 seconds. The limit counts the time until a test's turn comes, too.
@Suite(.serialized, .timeLimit(.minutes(10))) struct EventTests {
    @Test func keysArrive() throws {
        let probe = try ProbeProcess()
        try probe.report("ready")
        for (bytes, key) in [
            ("a", "a"), ("漢", "漢"), ("\u{1b}[A", "up"), ("\u{1b}OB", "down"), ("\u{1b}[1;5C", "ctrl+right"),
            ("\u{1b}y", "alt+y"), ("\u{1b}[Z", "backtab"), ("\u{1b}[15~", "f5"), ("\r", "enter"),
            ("\u{7f}", "backspace"),
            ("\u{1b}", "esc"), ("\u{13}", "ctrl+s"), ("\u{1c}", "ctrl+\\"),
        ] {
            try probe.send(bytes)
            try probe.report("key \(key) ")
        }
    }

    @Test func pasteMouseAndFocusArrive() throws {
        let probe = try ProbeProcess()
        try probe.report("ready")
        try probe.send("\u{1b}[200~q\u{1b}[A漢\u{1b}[201~")
        #expect(try probe.report("paste(").contains("漢"))
        try probe.send("\u{1b}[<0;3;4M\u{1b}[<0;3;4m")
        #expect(try probe.report("mouse(").contains("press"))
        #expect(try probe.report("mouse(").contains("release"))
        let click = try probe.report("mouse(")
        #expect(click.contains("Kind.click") && click.contains("column: 2, row: 3"))
        try probe.send("\u{1b}[O")
        try probe.report("focus(false)")
    }

    @Test func anotherThreadWakesTheWait() throws {
        let probe = try ProbeProcess()
        try probe.report("ready")
        try probe.send("w")
        try probe.report("key w")
        try probe.report("wake")
    }
}
