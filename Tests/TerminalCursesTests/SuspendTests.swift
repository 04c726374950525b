import Foundation
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct SuspendTests {
    /// A shell with job control, whose next command runs when the probe stops.
    private static let script = """
        set -m
        echo "before=$(stty -g)."
        "$0" "$1"
        echo "stopped=$(stty -g)."
        fg
        echo "after=$(stty -g)."
        """

    private func value(_ name: String, _ probe: ProbeProcess) throws -> Substring {
        let text = probe.text
        let start = try #require(text.range(of: name + "="))
        let end = try #require(text[start.upperBound...].firstIndex(of: "."))
        return text[start.upperBound..<end]
    }

    private func expectStopAndReturn(_ stop: (ProbeProcess, pid_t) throws -> Void) throws {
        let probe = try ProbeProcess(script: SuspendTests.script)
        let ready = try probe.report("ready")
        let child = try #require(ready.split(separator: "=").last.flatMap { pid_t($0) })
        try stop(probe, child)
        try probe.shows("stopped=")
        try probe.report("resumed")
        // The whole screen is drawn again after the shell's output; `resumed` is reported before that.
        try probe.shows("\u{1b}[?1049h", behind: "stopped=")
        try probe.shows("text: hello", behind: "stopped=")
        try probe.send("q")
        try probe.shows("after=")
        #expect(try probe.waitForEnd() == .exit(0))
        #expect(try value("before", probe) == value("stopped", probe))
        #expect(try value("before", probe) == value("after", probe))
    }

    @Test func controlZSuspends() throws {
        try expectStopAndReturn { probe, _ in try probe.send("\u{1a}") }
    }

    @Test func stopSignalRestoresTerminal() throws {
        try expectStopAndReturn { _, child in kill(child, SIGTSTP) }
    }

    @Test func redrawsAfterSIGSTOP() throws {
        let probe = try ProbeProcess()
        try probe.report("ready")
        let modes = try probe.modes()
        probe.signal(SIGSTOP)
        probe.signal(SIGCONT)
        try probe.report("resumed")
        #expect(try probe.modes() == modes)
        try probe.send("a")
        try probe.report("key a")
    }

    @Test func childProgramUsesTerminal() throws {
        let probe = try ProbeProcess(
            script: "echo \"before=$(stty -g).\"; exec \"$0\" \"$1\"",
            environment: [
                "PROBE_EDITOR": "f() { echo \"edited=$(stty -g).\"; echo \"file <$1>\"; return 4; }; f"
            ])
        try probe.report("ready")
        try probe.send("e")
        try probe.report("editor 4")
        try probe.shows("file <a file>")
        #expect(try value("before", probe) == value("edited", probe))
        let edited = try #require(probe.text.range(of: "file <a file>"))
        try probe.shows("last: editor 4")
        #expect(probe.text[edited.upperBound...].contains("text: hello"))
        try probe.send("q")
        #expect(try probe.waitForEnd() == .exit(0))
    }

    @Test func interruptingChildKeepsProgram() throws {
        let probe = try ProbeProcess(environment: ["PROBE_EDITOR": "f() { echo waiting; read line; }; f"])
        try probe.report("ready")
        try probe.send("e")
        try probe.shows("waiting")
        try probe.send("\u{3}")
        try probe.report("editor 130")
        try probe.send("q")
        #expect(try probe.waitForEnd() == .exit(0))
    }
}
