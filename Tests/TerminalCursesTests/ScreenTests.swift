import Foundation
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct ScreenTests {
    private func started(
        _ text: String = "hello", _ environment: [String: String] = [:], columns: UInt16 = 80,
        rows: UInt16 = 24
    ) throws -> (probe: ProbeProcess, ready: String) {
        let probe = try ProbeProcess(text: text, environment: environment, columns: columns, rows: rows)
        let ready = try probe.report("ready")
        return (probe, ready)
    }

    @Test func unchangedFrameSendsNothing() throws {
        let (probe, _) = try started()
        try probe.send("a")
        let sent = ProbeProcess.sent(try probe.report("key a"))
        probe.clearOutput()
        for _ in 0..<3 {
            try probe.send("n")
            #expect(ProbeProcess.sent(try probe.report("key n")) == sent)
        }
        #expect(probe.output == [])
    }

    @Test func countsBytesSent() throws {
        let (probe, _) = try started()
        try probe.send("g")
        let sent = try #require(ProbeProcess.sent(try probe.report("key g")))
        try probe.send("n")
        try probe.report("key n")
        #expect(probe.output.count == sent)
    }

    @Test func smallChangeSendsFewBytes() throws {
        let (probe, _) = try started()
        try probe.send("a")
        let before = try #require(ProbeProcess.sent(try probe.report("key a")))
        try probe.send("b")
        let after = try #require(ProbeProcess.sent(try probe.report("key b")))
        #expect(after - before > 0 && after - before < 60)
    }

    @Test func sendsWideCharacters() throws {
        let (probe, _) = try started("漢字 e\u{301} 한글 🇯🇵 😀!")
        try probe.shows("漢字 e\u{301} 한글 🇯🇵 😀!")
    }

    @Test func simplifiesClustersOfDisputedWidth() throws {
        let (probe, _) = try started("<👩‍🚀> <❤\u{fe0f}>")
        try probe.shows("<👩🚀> <❤ >")
        #expect(!probe.text.unicodeScalars.contains { $0.value == 0x200d || $0.value == 0xfe0f })
    }

    @Test func hostileTextSendsNoSequences() throws {
        let hostile = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{1b}P\u{e}\u{202e}\u{8}"
        let (probe, _) = try started(hostile)
        try probe.shows("\\e[2J\\e]0;owned\\u{7}\\u{9b}31m\\eP\\u{e}\\u{202e}\\u{8}")
        #expect(!probe.text.contains("\u{1b}]"))
        #expect(!probe.text.contains("\u{1b}P"))
        #expect(!probe.output.contains { [0x07, 0x0e].contains($0) })
        #expect(
            !probe.text.unicodeScalars.contains { (0x80..<0xa0).contains($0.value) || $0.value == 0x202e })
    }

    @Test func resizeIsReportedAndRedrawn() throws {
        let (probe, _) = try started()
        try probe.shows("size: 80x24")
        for (columns, rows) in [(UInt16(100), UInt16(30)), (20, 5), (500, 200), (1, 1), (80, 24)] {
            probe.clearOutput()
            probe.resize(columns: columns, rows: rows)
            try probe.report("resize(TerminalKit.Size(columns: \(columns), rows: \(rows)))")
            if columns >= 20 { try probe.shows("size: \(columns)x\(rows)") }
        }
    }

    @Test func sendsSynchronizedUpdates() throws {
        let (probe, _) = try started()
        #expect(probe.text.contains("\u{1b}[?2026h"))
        let (linux, ready) = try started("hello", ["TERM": "linux"])
        #expect(ready.contains("depth=sixteen"))
        #expect(!linux.text.contains("2026"))
        #expect(!linux.text.contains("?1000"))
    }

    @Test func obeysNoColor() throws {
        let (probe, ready) = try started("hello", ["NO_COLOR": "1"])
        #expect(ready.contains("depth=mono"))
        try probe.send("g")
        try probe.report("key g")
        try probe.shows("sorting")
        let codes = probe.text.matches(of: /\u{1b}\[([0-9;]*)m/).flatMap { $0.1.split(separator: ";") }
        #expect(!codes.isEmpty)
        #expect(!codes.contains { (30...49).contains(Int($0) ?? 0) || (90...107).contains(Int($0) ?? 0) })
    }

    @Test func sendsASCIIWithoutUTF8() throws {
        let (probe, ready) = try started("漢字 é!", ["LC_ALL": "C"])
        #expect(ready.contains("utf8=false"))
        try probe.shows("? ?  ?!")
        try probe.send("g")
        try probe.report("key g")
        try probe.shows("sorting")
        #expect(!probe.output.contains { $0 >= 0x80 })
    }

    @Test func sendsTrueColorByTerminfo() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("terminfo-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("source")
        try #"""
        xterm-direct|xterm with direct colors,
        	RGB, colors#0x1000000, pairs#0x10000,
        	setab=\E[%?%p1%{8}%<%t4%p1%d%e48\:2\:\:%p1%{65536}%/%d\:%p1%{256}%/%{255}%&%d\:%p1%{255}%&%d%;m,
        	setaf=\E[%?%p1%{8}%<%t3%p1%d%e38\:2\:\:%p1%{65536}%/%d\:%p1%{256}%/%{255}%&%d\:%p1%{255}%&%d%;m,
        	use=xterm-256color,

        """#.write(to: source, atomically: true, encoding: .utf8)
        let compiler = try ChildProcess.run("/usr/bin/env", ["tic", "-x", "-o", folder.path, source.path])
        try #require(compiler.status == 0, "tic, of ncurses-bin, is needed to make a terminfo entry")
        let (probe, ready) = try started("hello", ["TERM": "xterm-direct", "TERMINFO": folder.path])
        #expect(ready.contains("depth=trueColor"))
        try probe.shows("38:2::74:144:240m")
    }

    @Test func sendsTrueColorByEnvironment() throws {
        let (probe, ready) = try started("hello", ["COLORTERM": "truecolor"])
        #expect(ready.contains("depth=trueColor"))
        try probe.shows("38;2;74;144;240m")
    }

    @Test func monochromeTerminalHasNoColors() throws {
        let (_, ready) = try started("hello", ["COLORTERM": "truecolor", "TERM": "vt220"])
        #expect(ready.contains("depth=mono"))
    }
}
