import Foundation
import Testing

/// The terminal is restored at every kind of exit.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RestoringTests {
    /// Expects the original modes, and as the last output: mouse and paste off, the normal screen, a visible cursor.
    private func expectRestored(_ probe: ProbeProcess, _ before: [UInt8]) throws {
        #expect(try probe.modes() == before)
        let text = probe.text
        let entered = try #require(text.range(of: "\u{1b}[?1049h", options: .backwards))
        let rest = text[entered.upperBound...]
        #expect(rest.contains("\u{1b}[?1049l"))
        #expect(rest.contains("\u{1b}[?1000;1002;1006;2004;1004l"))
        let afterHiding =
            rest.range(of: "\u{1b}[?25l", options: .backwards).map { rest[$0.upperBound...] } ?? rest
        #expect(afterHiding.contains("\u{1b}[?25h"))
    }

    private func started(_ environment: [String: String] = [:]) throws -> (ProbeProcess, [UInt8]) {
        let probe = try ProbeProcess(environment: environment)
        try probe.report("ready")
        return (probe, try freshModes())
    }

    /// The modes of an unused pseudo-terminal.
    private func freshModes() throws -> [UInt8] {
        let other = try ProbeProcess(script: "read line")
        return try other.modes()
    }

    @Test func probeChangesModes() throws {
        let (probe, before) = try started()
        #expect(try probe.modes() != before)
    }

    @Test(arguments: [("q", Int32(0)), ("x", 3)])
    func exitRestoresTerminal(_ key: String, _ status: Int32) throws {
        let (probe, before) = try started()
        try probe.send(key)
        #expect(try probe.waitForEnd() == .exit(status))
        try expectRestored(probe, before)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE])
    func signalRestoresTerminal(_ number: Int32) throws {
        let (probe, before) = try started()
        probe.signal(number)
        #expect(try probe.waitForEnd() == .signal(number))
        try expectRestored(probe, before)
    }

    /// Regression: the runtime's handler prints a backtrace and returns. A fault recurs, but after a sent signal the program drew
    /// on the restored terminal.
    @Test(arguments: [SIGSEGV, SIGQUIT, SIGABRT])
    func signalRestoresTerminalWithBacktraces(_ number: Int32) throws {
        let (probe, before) = try started(["SWIFT_BACKTRACE": "enable=yes,interactive=no"])
        probe.signal(number)
        #expect(try probe.waitForEnd() == .signal(number))
        try expectRestored(probe, before)
    }

    @Test func crashRestoresTerminal() throws {
        let (probe, before) = try started()
        try probe.send("!")
        #expect(try probe.waitForEnd() == .signal(SIGSEGV))
        try expectRestored(probe, before)
    }

    @Test func controlCIsKey() throws {
        let (probe, _) = try started()
        try probe.send("\u{3}")
        try probe.report("key ctrl+c")
    }

    @Test(arguments: ["no-such-terminal", "dumb"])
    func refusesUnsuitableTerminal(type: String) throws {
        let probe = try ProbeProcess(environment: ["TERM": type])
        let report = try probe.report("failed")
        #expect(report.contains(type))
        #expect(try probe.waitForEnd() == .exit(1))
        #expect(try probe.modes() == freshModes())
        #expect(probe.output == [])
    }

    @Test func refusesMissingTerminal() throws {
        let probe = try ProbeProcess(hasTerminal: false)
        #expect(try probe.report("failed").contains("no terminal"))
        #expect(try probe.waitForEnd() == .exit(1))
    }

    @Test func endsWhileOutputIsSuspended() throws {
        let (probe, before) = try started()
        try probe.stopOutput()
        probe.signal(SIGTERM)
        #expect(try probe.waitForEnd() == .signal(SIGTERM))
        #expect(try probe.modes() == before)
    }

    @Test func hangUpEndsProcess() throws {
        let (probe, _) = try started()
        probe.hangUp()
        #expect(try probe.waitForEnd() == .signal(SIGHUP))
    }

    @Test func detectsHangUpWithIgnoredSignal() throws {
        let probe = try ProbeProcess(script: "trap '' HUP; exec \"$0\" \"$1\"")
        try probe.report("ready")
        probe.hangUp()
        try probe.report("hangUp")
        #expect(try probe.waitForEnd() == .exit(0))
    }
}
