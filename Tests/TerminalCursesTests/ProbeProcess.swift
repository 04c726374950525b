import Foundation
import TestSupport

/// TerminalProbe, or a shell script that runs it, on a separate pseudo-terminal. For one thread. Waits poll until a deadline.
final class ProbeProcess {
    struct TimedOut: Error, CustomStringConvertible {
        let wanted: String
        let output: String
        let reports: [String]
        var description: String {
            "nothing showed \(wanted); reports \(reports), output \(output.debugDescription.suffix(1500))"
        }
    }

    enum End: Equatable { case exit(Int32), signal(Int32) }

    let process: pid_t
    private(set) var output: [UInt8] = []
    private(set) var reports: [String] = []
    private var master: Int32
    private var slave: Int32
    private let reportPipe: Int32
    private var reportBytes: [UInt8] = []
    private var end: End?
    private static let timeout = 20.0

    static var probe: String {
        (try? ChildProcess.program(named: "TerminalProbe")) ?? "/probe-was-not-built"
    }

    /// - Parameters:
    ///   - script: a shell script to run instead of the probe, which is its `$0`; `$1` is the text.
    ///   - hasTerminal: whether the process has a terminal at all.
    init(
        text: String = "hello", script: String? = nil, environment: [String: String] = [:],
        columns: UInt16 = 80, rows: UInt16 = 24, hasTerminal: Bool = true
    ) throws {
        var (controlling, terminal): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 128)
        guard openpty(&controlling, &terminal, nil, nil, nil) == 0,
            ttyname_r(terminal, &name, name.count) == 0
        else { throw POSIXError(.ENXIO) }
        // Keeps the modes readable after the process has ended.
        (master, slave) = (controlling, terminal)
        let path =
            hasTerminal
            ? String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            : "/dev/null"
        for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        reportPipe = ends[0]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(reportPipe, F_SETFL, O_NONBLOCK)
        _ = fcntl(master, F_SETFL, O_NONBLOCK)

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // In a new session the terminal becomes the controlling one.
        posix_spawnattr_setflags(
            &attributes, Int16(0x80) | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

        var variables = [
            "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no",
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
        ]
        variables.merge(environment) { $1 }
        let words = script.map { ["sh", "-c", $0, ProbeProcess.probe, text] } ?? [ProbeProcess.probe, text]
        var arguments = words.map { strdup($0) } + [nil]
        var values = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in arguments + values { free(pointer) } }
        var child = pid_t()
        ProbeProcess.resize(master, columns, rows)
        let code = posix_spawn(
            &child, script == nil ? ProbeProcess.probe : "/bin/sh", &actions, &attributes, &arguments, &values
        )
        close(ends[1])
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        process = child
    }

    deinit {
        if end == nil {
            kill(process, SIGKILL)
            kill(process, SIGCONT)
            var status: Int32 = 0
            waitpid(process, &status, 0)
        }
        hangUp()
        close(reportPipe)
    }

    var text: String { String(decoding: output, as: UTF8.self) }

    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(master, bytes, bytes.count) == bytes.count else { throw POSIXError(.EIO) }
    }

    /// Does nothing after the process has ended, as its number may be reused.
    func signal(_ number: Int32) {
        if end == nil { kill(process, number) }
    }

    func resize(columns: UInt16, rows: UInt16) { ProbeProcess.resize(master, columns, rows) }

    private static func resize(_ master: Int32, _ columns: UInt16, _ rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Closes the terminal.
    func hangUp() {
        for end in [master, slave] where end >= 0 { close(end) }
        (master, slave) = (-1, -1)
    }

    /// All modes of the terminal.
    func modes() throws -> [UInt8] {
        var modes = termios()
        guard tcgetattr(master, &modes) == 0 else { throw POSIXError(.EIO) }
        return withUnsafeBytes(of: &modes) { Array($0) }
    }

    func clearOutput() { output = [] }

    /// Waits for a report with the prefix, and returns it.
    @discardableResult
    func report(_ beginning: String) throws -> String {
        try wait("the report “\(beginning)”") { reports.contains { $0.hasPrefix(beginning) } }
        let index = reports.firstIndex { $0.hasPrefix(beginning) } ?? 0
        let report = reports[index]
        reports.removeSubrange(...index)
        return report
    }

    /// Waits until the output contains the text, after `other` if given.
    func shows(_ text: String, behind other: String = "") throws {
        try wait("“\(text)”") {
            let output = self.text
            guard !other.isEmpty else { return output.contains(text) }
            return output.range(of: other).map { output[$0.upperBound...].contains(text) } ?? false
        }
    }

    /// Suspends output, as Control-S does.
    func stopOutput() throws {
        guard tcflow(slave, TCOOFF) == 0 else { throw POSIXError(.EIO) }
    }

    /// Waits for the end of the process, and reads its last output.
    func waitForEnd() throws -> End {
        try wait("the end of the process") {
            var status: Int32 = 0
            if end == nil, waitpid(process, &status, WNOHANG) == process {
                end = status & 0x7f == 0 ? .exit(status >> 8 & 0xff) : .signal(status & 0x7f)
            }
            return end != nil
        }
        pump(milliseconds: 0)
        return end ?? .exit(-1)
    }

    /// The bytes sent in a report, `… sent=12`.
    static func sent(_ report: String) -> Int? {
        report.split(separator: "=").last.flatMap { Int($0) }
    }

    private func wait(_ wanted: String, until isDone: () -> Bool) throws {
        let deadline = Date().addingTimeInterval(ProbeProcess.timeout)
        while !isDone() {
            guard Date() < deadline else { throw TimedOut(wanted: wanted, output: text, reports: reports) }
            pump(milliseconds: 20)
        }
    }

    /// Reads output and reports; waits up to `milliseconds` for some.
    private func pump(milliseconds: Int32) {
        var waiting = [
            pollfd(fd: master, events: Int16(POLLIN), revents: 0),
            pollfd(fd: reportPipe, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&waiting, 2, milliseconds) > 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 65536)
        var took = false
        while master >= 0, case let count = read(master, &buffer, buffer.count), count > 0 {
            output += buffer[..<count]
            took = true
        }
        while case let count = read(reportPipe, &buffer, buffer.count), count > 0 {
            reportBytes += buffer[..<count]
            took = true
        }
        while let newline = reportBytes.firstIndex(of: 0x0a) {
            reports.append(String(decoding: reportBytes[..<newline], as: UTF8.self))
            reportBytes.removeSubrange(...newline)
        }
        // A hung-up descriptor is always ready; without this pause the wait would spin.
        if !took { usleep(useconds_t(milliseconds) * 1000) }
    }
}
