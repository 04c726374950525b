import Foundation
import TestSupport
import Testing

/// Processes that tests start inherit only standard input and output.
@Suite struct ChildProcessTests {
    @Test("a child inherits no other descriptors") func inheritedDescriptors() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let script = "[ -e /dev/fd/1 ] && [ ! -e /dev/fd/$0 ] && [ ! -e /dev/fd/$1 ]"
        let child = try ChildProcess("/bin/sh", ["-c", script, "\(ends[0])", "\(ends[1])"])
        #expect(try await child.end(within: 60) == 0)
    }

    @Test("a child's streams are redirected") func redirectedStreams() async throws {
        let path = NSTemporaryDirectory() + "vellum-child-" + UUID().uuidString
        defer { for name in ["in", "out", "err"] { unlink(path + name) } }
        try "line".write(toFile: path + "in", atomically: true, encoding: .utf8)
        let child = try ChildProcess(
            "/bin/sh", ["-c", "cat; echo $WORD >&2; exit 3"],
            environment: ["WORD": "said", "PATH": "/bin:/usr/bin"],
            streams: [0: .reading(path + "in"), 1: .writing(path + "out"), 2: .writing(path + "err")])
        #expect(try await child.end(within: 60) == 3 << 8)
        #expect(try String(contentsOfFile: path + "out", encoding: .utf8) == "line")
        #expect(try String(contentsOfFile: path + "err", encoding: .utf8) == "said\n")
    }

    @Test("a stopped child has not ended") func stoppedChild() async throws {
        let child = try ChildProcess("/bin/sleep", ["600"])
        #expect(try await child.stop())
        #expect(!child.hasEnded())
        child.signal(SIGKILL)
        #expect(try await child.end(within: 60) == SIGKILL)
    }
}
