import Foundation

/// A program on a pseudo-terminal, with its output. For one thread; the program ends with the object.
final class TerminalProgram {
    /// The sequence at the end of each synchronized frame.
    private static let endOfFrame = Array("\u{1b}[?2026l".utf8)
    private static let timeout: UInt64 = 60_000_000_000

    private let terminal: Int32
    private let process: pid_t
    /// Output since the last call that waited.
    private var output: [UInt8] = []

    /// - Parameter variables: added to the environment, besides those that describe the terminal.
    init(
        _ words: [String], columns: UInt16, rows: UInt16, variables: [String: String] = [:]
    ) throws {
        var (controlling, controlled): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        var name = [CChar](repeating: 0, count: 128)
        guard openpty(&controlling, &controlled, nil, nil, &size) == 0,
            ttyname_r(controlled, &name, name.count) == 0
        else { throw BenchmarkError("there is no terminal to be had: error \(errno)") }
        defer { close(controlled) }
        terminal = controlling
        _ = fcntl(controlling, F_SETFD, FD_CLOEXEC)
        process = try ChildProcess.start(
            words, .terminal(name),
            variables: variables.merging(["TERM": "xterm-256color", "LC_ALL": "C.UTF-8"]) { $1 })
    }

    deinit {
        kill(process, SIGKILL)
        ChildProcess.end(of: process)
        close(terminal)
    }

    // MARK: Typing and waiting

    /// Types keys and discards previous output.
    func type(_ keys: String) throws {
        try drain()
        try press(keys)
    }

    /// Types keys and keeps previous output.
    func press(_ keys: String) throws {
        var rest = Array(keys.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { throw BenchmarkError("the terminal takes no keys") }
            rest = rest.dropFirst(max(0, written))
        }
    }

    /// Waits for the end of the first frame in which, or after which, `text` was sent; returns the time at which it arrived.
    @discardableResult
    func frame(showing text: String = "") throws -> UInt64 {
        let wanted = Array(text.utf8)
        let end = Clock.now() + TerminalProgram.timeout
        while Clock.now() < end {
            if let found = place(of: wanted, from: 0),
                let done = place(of: TerminalProgram.endOfFrame, from: found)
            {
                output.removeFirst(done + TerminalProgram.endOfFrame.count)
                return Clock.now()
            }
            try receive(milliseconds: 100)
        }
        let last = String(decoding: output.suffix(300), as: UTF8.self)
        throw BenchmarkError("the browser didn't show \"\(text)\", but \(last.debugDescription)")
    }

    /// Output up to the end of the next frame; `nil` if no frame ended within the time limit.
    func nextFrame(milliseconds: Int32) throws -> [UInt8]? {
        let end = Clock.now() + UInt64(milliseconds) * 1_000_000
        var searched = 0
        while true {
            if let place = place(of: TerminalProgram.endOfFrame, from: searched) {
                let bytes = Array(output[..<(place + TerminalProgram.endOfFrame.count)])
                output.removeFirst(bytes.count)
                return bytes
            }
            // The beginning of the sequence may have arrived.
            searched = max(0, output.count - TerminalProgram.endOfFrame.count + 1)
            let now = Clock.now()
            let isLate = now >= end
            let arrived = try receive(milliseconds: isLate ? 0 : Int32((end - now + 999_999) / 1_000_000))
            if isLate, !arrived { return nil }
        }
    }

    /// Reads until there is no output for a time, at most three seconds, since ages on the screen change.
    func settle(milliseconds: Int32 = 300) throws {
        let end = Clock.now() + 3_000_000_000
        while Clock.now() < end, try receive(milliseconds: milliseconds) {}
        output = []
    }

    /// Reads output for a time.
    func watch(seconds: Double) throws {
        let end = Clock.now() + UInt64(seconds * 1e9)
        while Clock.now() < end {
            try receive(milliseconds: 20)
            output = []
        }
    }

    private func drain() throws {
        while try receive(milliseconds: 0) {}
        output = []
    }

    @discardableResult
    private func receive(milliseconds: Int32) throws -> Bool {
        var ready = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, milliseconds) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = buffer.withUnsafeMutableBytes { read(terminal, $0.baseAddress, $0.count) }
        guard count > 0 else {
            throw BenchmarkError("the browser ended: \(String(decoding: output.suffix(300), as: UTF8.self))")
        }
        output += buffer[..<count]
        return true
    }

    private func place(of wanted: [UInt8], from start: Int) -> Int? {
        guard let first = wanted.first else { return start }
        guard output.count >= wanted.count else { return nil }
        for place in start...(max(start, output.count - wanted.count)) where output[place] == first {
            if output[place...].starts(with: wanted) { return place }
        }
        return nil
    }

    // MARK: Costs

    /// Processor time so far in nanoseconds; `nil` where the system doesn't report it.
    var processorTime: Double? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            // The name in parentheses may contain any character.
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[end...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
            return nil
        }
        return (user + system) * 1e9 / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Private memory in bytes, without mapped files; `nil` where the system doesn't report it.
    var ownMemory: Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Anonymous:") }),
            let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return kibibytes << 10
    }
}
