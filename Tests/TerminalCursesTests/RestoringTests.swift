import Foundation
import Testing

/// However the program ends, the terminal is as it was.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RestoringTests {
    /// What must have been sent last: the mouse and paste modes off, the normal screen and the cursor back.
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

    /// The modes of a pseudo-terminal that nobody has touched.
    private func freshModes() throws -> [UInt8] {
        let other = try ProbeProcess(script: "read line")
        return try other.modes()
    }

    @Test func theProbeChangesTheModes() throws {
        let (probe, before) = try started()
        #expect(try probe.modes() != before)
    }

    @Test(arguments: [("q", Int32(0)), ("x", 3)])
    func exit(_ key: String, _ status: Int32) throws {
        let (probe, before) = try started()
        try probe.send(key)
        #expect(try probe.waitForEnd() == .exit(status))
        try expectRestored(probe, before)
    }

    @Test(arguments: [
        SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE,
    ])
    func signal(_ number: Int32) throws {
        let (probe, before) = try started()
        probe.signal(number)
        #expect(try probe.waitForEnd() == .signal(number))
        try expectRestored(probe, before)
    }

    /// The runtime's handler prints a backtrace and returns, so that the fault comes again. A signal that was sent doesn't:
    /// the program went on and drew on a terminal that it had given back.
    @Test(arguments: [SIGSEGV, SIGQUIT, SIGABRT])
    func signalThatIsSentWhileTheRuntimePrintsBacktraces(_ number: Int32) throws {
        let (probe, before) = try started(["SWIFT_BACKTRACE": "enable=yes,interactive=no"])
        probe.signal(number)
        #expect(try probe.waitForEnd() == .signal(number))
        try expectRestored(probe, before)
    }

    @Test func crash() throws {
        let (probe, before) = try started()
        try probe.send("!")
        #expect(try probe.waitForEnd() == .signal(SIGSEGV))
        try expectRestored(probe, before)
    }

    @Test func controlCIsAKeyAndNoSignal() throws {
        let (probe, _) = try started()
        try probe.send("\u{3}")
        try probe.report("key ctrl+c")
    }

    @Test(arguments: ["no-such-terminal", "dumb"])
    func aTerminalThatCannotShowScreensIsLeftAlone(type: String) throws {
        let probe = try ProbeProcess(environment: ["TERM": type])
        let report = try probe.report("failed")
        #expect(report.contains(type))
        #expect(try probe.waitForEnd() == .exit(1))
        #expect(try probe.modes() == freshModes())
        #expect(probe.output == [])
    }

    @Test func aProcessWithoutATerminalIsTold() throws {
        let probe = try ProbeProcess(hasTerminal: false)
        #expect(try probe.report("failed").contains("no terminal"))
        #expect(try probe.waitForEnd() == .exit(1))
    }

    @Test func aTerminalThatTakesNothingDoesNotKeepTheProgramFromEnding() throws {
        let (probe, before) = try started()
        try probe.stopOutput()
        probe.signal(SIGTERM)
        #expect(try probe.waitForEnd() == .signal(SIGTERM))
        #expect(try probe.modes() == before)
    }

    @Test func theEndOfTheTerminalEndsTheProcess() throws {
        let (probe, _) = try started()
        probe.hangUp()
        #expect(try probe.waitForEnd() == .signal(SIGHUP))
    }

    @Test func theEndOfTheTerminalIsReadWhenItsSignalIsIgnored() throws {
        let probe = try ProbeProcess(script: "trap '' HUP; exec \"$0\" \"$1\"")
        try probe.report("ready")
        probe.hangUp()
        try probe.report("hangUp")
        #expect(try probe.waitForEnd() == .exit(0))
    }
}
