import Foundation
import Testing

// Waits in these suites end after 20 seconds. The time limit also counts the time before a test starts.
@Suite(.serialized, .timeLimit(.minutes(10))) struct EventTests {
    @Test func readsKeys() throws {
        let probe = try ProbeProcess()
        try probe.report("ready")
        for (bytes, key) in [
            ("a", "a"), ("漢", "漢"), ("\u{1b}[A", "up"), ("\u{1b}OB", "down"), ("\u{1b}[1;5C", "ctrl+right"),
            ("\u{1b}y", "alt+y"), ("\u{1b}[Z", "backtab"), ("\u{1b}[15~", "f5"), ("\r", "enter"),
            ("\u{7f}", "backspace"), ("\u{1b}", "esc"), ("\u{13}", "ctrl+s"), ("\u{1c}", "ctrl+\\"),
        ] {
            try probe.send(bytes)
            try probe.report("key \(key) ")
        }
    }

    @Test func readsPasteMouseAndFocus() throws {
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

    @Test func anotherThreadWakesWait() throws {
        let probe = try ProbeProcess()
        try probe.report("ready")
        try probe.send("w")
        try probe.report("key w")
        try probe.report("wake")
    }

    /// A slow line may split the bytes of a key. Decoded apart, they would be Escape and letters.
    @Test(arguments: [
        (["\u{1b}", "[A"], "up"), (["\u{1b}", "[", "B"], "down"), (["\u{1b}O", "C"], "right"),
        (["\u{1b}[1;", "5D"], "ctrl+left"),
    ])
    func joinsPiecesOfKey(_ pieces: [String], _ key: String) throws {
        let probe = try ProbeProcess()
        try probe.report("ready")
        // A run that a busy machine delayed beyond the limit of Escape proves nothing, and is repeated.
        for _ in 0..<20 {
            var pauses: [Duration] = []
            var last = ContinuousClock.now
            for (number, piece) in pieces.enumerated() {
                if number > 0 { usleep(70_000) }
                try probe.send(piece)
                pauses.append(last.duration(to: .now))
                last = .now
            }
            let report = try probe.report("key ")
            if pauses.allSatisfy({ $0 < .milliseconds(180) }) {
                #expect(report.hasPrefix("key \(key) "), "\(report)")
                return
            }
            // A key outside the run marks its end.
            try probe.send("n")
            try probe.report("key n ")
        }
        Issue.record("no run was quick enough")
    }

    @Test("reports Alt with a string introducer, and an incomplete paste")
    func reportsUnfinishedInput() throws {
        let probe = try ProbeProcess()
        try probe.report("ready")
        try probe.send("\u{1b}]")
        try probe.report("key alt+] ")
        try probe.send("\u{1b}[200~half")
        try probe.report("pasteUnfinished")
        try probe.send("\u{3}")
        try probe.report("pasteDropped")
    }

    @Test("a character long after Escape is a separate key") func lateCharacterIsSeparateKey() throws {
        let probe = try ProbeProcess()
        try probe.report("ready")
        try probe.send("\u{1b}")
        usleep(70_000)
        try probe.send("y")
        #expect(try probe.report("key ").hasPrefix("key esc "))
        #expect(try probe.report("key ").hasPrefix("key y "))
    }
}
