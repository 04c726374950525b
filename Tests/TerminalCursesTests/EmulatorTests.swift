import Foundation
import Testing

/// What a real terminal emulator makes of the bytes.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Emulator.isInstalled, "these tests need tmux"))
struct EmulatorTests {
    @Test func everyClusterTakesItsColumns() throws {
        let clusters = ["漢字", "e\u{301}", "한글", "😀", "👩‍🚀", "❤\u{fe0f}", "ก็", "─", "ﾊ", "か\u{3099}", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]
        let shown = ["漢字", "e\u{301}", "한글", "😀", "👩", "❤ ", "ก็", "─", "ﾊ", "か\u{3099}", "🏴"]
        let emulator = try Emulator(text: clusters.joined(separator: "|") + "|", columns: 60, rows: 6)
        try emulator.shows("size: 60x6")
        let expected = "text: " + shown.joined(separator: "|") + "|"
        let line = try emulator.lines()[0]
        // Scalars, because equal strings may be composed differently.
        #expect(line.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(line.debugDescription)")
    }

    @Test func theScreenIsTheFrameAfterManyChanges() throws {
        let emulator = try Emulator(text: "東京", columns: 60, rows: 14)
        try emulator.shows("size: 60x14")
        try emulator.press("g")
        try emulator.shows("sorting by size")
        let widgets = try emulator.lines()
        #expect(widgets.count == 14)
        #expect(widgets[2].hasPrefix("  city/20/東京"))
        #expect(widgets[13] == "enter open  / filter  d delete  ? help  q quit")
        for _ in 0..<3 {
            try emulator.press("g")
            try emulator.shows("text: 東京")
            #expect(try emulator.lines().filter { !$0.isEmpty }.count == 3)
            try emulator.press("g")
            try emulator.shows("sorting by size")
        }
        #expect(try emulator.lines() == widgets)
    }

    @Test func aResizeFillsTheNewScreen() throws {
        let emulator = try Emulator(text: "x", columns: 60, rows: 14)
        try emulator.shows("size: 60x14")
        try emulator.press("g")
        try emulator.shows("sorting by size")
        try emulator.tmux("resize-window", "-t", "0", "-x", "90", "-y", "20")
        try emulator.wait("the footer at the bottom") {
            try emulator.lines().last?.hasPrefix("enter open") == true && emulator.lines().count == 20
        }
        #expect(try emulator.lines()[0].contains("READ ONLY"))
    }

    /// The region that scrolls was set for the 24 rows of the terminfo entry and stayed so for the shell; on a VT100, whose
    /// cursor goes down by line feeds, rows of two screens were mixed.
    @Test(arguments: ["tmux-256color", "vt100"])
    func theWholeScreenScrolls(_ type: String) throws {
        let emulator = try Emulator(text: "x", columns: 60, rows: 35, type: type)
        try emulator.shows("size: 60x35")
        #expect(try emulator.scrollRegion() == "0 34")
        try emulator.press("g")
        try emulator.shows("sorting by size")
        #expect(try emulator.lines().last?.hasPrefix("enter open") == true)
        #expect(try !emulator.lines().contains { $0.contains("size: 60x35") })
        try emulator.press("q")
        try emulator.shows("ended 0")
        #expect(try emulator.scrollRegion() == "0 34")
    }

    @Test func theNormalScreenComesBack() throws {
        let emulator = try Emulator(text: "x", columns: 60, rows: 14)
        try emulator.shows("size: 60x14")
        try emulator.press("q")
        try emulator.shows("ended 0")
        let lines = try emulator.lines()
        #expect(lines.first == "before")
        #expect(!lines.contains { $0.contains("size:") })
    }
}

/// The probe in a window of tmux. For one thread.
private final class Emulator {
    static let isInstalled = (try? run(["-V"]))?.status == 0
    private let socket: String

    init(text: String, columns: Int, rows: Int, type: String = "tmux-256color") throws {
        socket = "terminal-tests-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let command = "echo before; \(ProbeProcess.probe) '\(text)' 2>/dev/null; echo ended $?; read line"
        try tmux(
            "-u", "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "sh", "-c",
            "LC_ALL=C.UTF-8; TERM=\(type); export LC_ALL TERM; " + command)
    }

    deinit { _ = try? Emulator.run(["-L", socket, "kill-server"]) }

    @discardableResult
    func tmux(_ arguments: String...) throws -> String {
        let result = try Emulator.run(["-L", socket] + arguments)
        try #require(result.status == 0, "tmux \(arguments): \(result.output)")
        return result.output
    }

    func press(_ key: String) throws { try tmux("send-keys", "-t", "0", key) }

    /// The screen's lines, without what trails.
    func lines() throws -> [String] {
        try tmux("capture-pane", "-p", "-t", "0").split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast()
            .map { line in
                var line = line
                while line.last == " " { line.removeLast() }
                return String(line)
            }
    }

    /// The first and the last row of the region that scrolls.
    func scrollRegion() throws -> String {
        let format = "#{scroll_region_upper} #{scroll_region_lower}"
        return String(try tmux("display", "-p", "-t", "0", format).prefix { $0 != "\n" })
    }

    func shows(_ text: String) throws {
        try wait("“\(text)”") { try lines().contains { $0.contains(text) } }
    }

    func wait(_ wanted: String, until isDone: () throws -> Bool) throws {
        let deadline = Date().addingTimeInterval(20)
        while try !isDone() {
            let lines = try lines()
            try #require(Date() < deadline, "the screen never showed \(wanted): \(lines)")
            usleep(20_000)
        }
    }

    /// Runs tmux to its end. Foundation's Process would wait for the server too, which a client leaves behind.
    private static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("tmux-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, file.path, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The threads of the tests block all signals, and a server that inherited that could never be ended.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var variables = ProcessInfo.processInfo.environment
        variables["TMUX"] = nil
        variables["LC_ALL"] = "C.UTF-8"
        var words = (["tmux"] + arguments).map { strdup($0) } + [nil]
        var values = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in words + values { free(pointer) } }
        var process = pid_t()
        let code = posix_spawnp(&process, "tmux", &actions, &attributes, &words, &values)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        let deadline = Date().addingTimeInterval(20)
        var status: Int32 = 0
        while waitpid(process, &status, WNOHANG) == 0 {
            if Date() > deadline { kill(process, SIGKILL) }
            usleep(5_000)
        }
        return (status, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }
}
