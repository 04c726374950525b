import CNcurses
import TerminalKit

/// The process's terminal, one at a time: shows frames or lines, reads input, and restores the terminal's state however the
/// process ends, except by SIGKILL. Not thread-safe; only its ``waker`` may be used from other threads.
package final class CursesTerminal {
    package let depth: ColorDepth
    /// Whether the locale's encoding is UTF-8; otherwise use ``TerminalKit/Glyphs/ascii``.
    package let isUTF8: Bool
    package let waker: Waker
    /// The size at the last ``TerminalKit/InputEvent/resize(_:)``.
    package internal(set) var size: Size
    package private(set) var bytesSent = 0

    /// Whether frames are drawn on the alternate screen. Otherwise output is written to the normal screen, and scrolls.
    let drawsFrames: Bool
    let descriptor: Int32
    let ownsDescriptor: Bool
    private let knowsModes: Bool
    private let isGNUScreen: Bool
    private var capturesMouse = true
    let hasDirectColors: Bool
    /// Encodes 24-bit colors for a terminfo entry with 256 colors.
    var palette = DirectPalette()
    let colors: Int
    private let savedModes: termios
    private var shown: Frame?
    var isActive = false
    private var isClosed = false
    var decoder: InputDecoder
    var clicks = ClickRecognizer()
    var queue: [InputEvent] = []

    nonisolated(unsafe) private static var isOpen = false

    /// Opens standard input if it and standard output are terminals, else `/dev/tty`; `drawsFrames` enters the alternate
    /// screen, which needs a terminal type that has one. Call it on the main thread before other threads use the locale.
    package init(environment: [String: String], drawsFrames: Bool = true) throws(TerminalError) {
        guard !CursesTerminal.isOpen else { throw TerminalError.alreadyOpen }
        self.drawsFrames = drawsFrames
        ownsDescriptor = isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0
        descriptor = ownsDescriptor ? open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC) : STDIN_FILENO
        guard descriptor >= 0, isatty(descriptor) == 1 else { throw TerminalError.notATerminal }
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else {
            throw TerminalError.system(call: "tcgetattr", code: errno)
        }
        savedModes = modes
        waker = try Waker()
        isUTF8 = cnc_set_locale()
        size = CursesTerminal.windowSize(of: descriptor)
        // Install before ncurses, which keeps existing handlers.
        cnc_signals_install(waker.writeEnd)
        let capabilities = TerminalCapabilities(environment: environment)
        let (rows, columns) = (Int32(size.rows), Int32(size.columns))
        guard !drawsFrames || cnc_open(capabilities.type, rows, columns) else {
            cnc_signals_remove()
            throw TerminalError.unknownType(capabilities.type)
        }
        colors = !drawsFrames || capabilities.depth == .mono ? 0 : Int(cnc_start_colors())
        hasDirectColors = colors > 256 && cnc_has_direct_colors()
        depth = capabilities.depth(colors: colors)
        isGNUScreen = capabilities.isGNUScreen
        knowsModes = drawsFrames && capabilities.knowsModes(hasMouse: cnc_capability("kmous") != nil)
        decoder = InputDecoder(terminalSequences: drawsFrames ? CursesTerminal.terminalSequences() : [:])
        CursesTerminal.isOpen = true
        enter()
    }

    deinit { close() }

    /// Restores the terminal. Further calls do nothing.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        leave()
        if drawsFrames { cnc_close() }
        cnc_signals_remove()
        if ownsDescriptor { closeDescriptor(descriptor) }
        CursesTerminal.isOpen = false
    }

    package func present(_ frame: Frame) {
        guard isActive, drawsFrames else { return }
        let diff = FrameDiff(from: shown, to: frame)
        guard !diff.isEmpty else { return }
        shown = frame
        for run in diff.runs where run.row < size.rows { put(run, of: frame) }
        if let cursor = frame.cursor, Rect(size).contains(cursor) {
            cnc_set_cursor(Int32(cursor.row), Int32(cursor.column))
        } else {
            cnc_set_cursor(-1, 0)
        }
        cnc_refresh()
        sendOutput()
    }

    /// Makes the next frame redraw everything. Call it after another program has written to the terminal.
    package func invalidate() {
        shown = nil
        if drawsFrames { cnc_invalidate() }
    }

    /// Sends a control sequence for the terminal to execute, such as OSC 52. Never pass stored text.
    package func send(_ bytes: [UInt8]) {
        guard isActive else { return }
        write(bytes)
    }

    /// Captures mouse events, or leaves them to the terminal for selecting text. Has no effect in GNU screen.
    package func capture(mouse isCaptured: Bool) {
        guard isCaptured != capturesMouse else { return }
        capturesMouse = isCaptured
        if isActive, knowsModes, !isGNUScreen { write(TerminalModes.mouse(isCaptured)) }
    }

    /// Takes the terminal. Sets the modes first, because that stops a background process before it draws.
    func enter() {
        guard !isActive else { return }
        var modes = savedModes
        cfmakeraw(&modes)
        _ = tcsetattr(descriptor, TCSADRAIN, &modes)
        var saved = savedModes
        let restoring = drawsFrames ? restoringBytes() : []
        cnc_guard_arm(descriptor, &saved, restoring, restoring.count)
        isActive = true
        shown = nil
        if resizeToWindow() { queue.append(.resize(size)) }
        guard drawsFrames else { return }
        if knowsModes { write(TerminalModes.enter(mouse: capturesMouse && !isGNUScreen)) }
        cnc_invalidate()
    }

    /// Releases the terminal; ``enter()`` takes it again.
    func leave() {
        guard isActive else { return }
        isActive = false
        if drawsFrames {
            if knowsModes { write(TerminalModes.leave) }
            cnc_leave()
            var count = 0
            if let bytes = cnc_take_output(&count) {
                write(Array(UnsafeBufferPointer(start: bytes, count: count)))
            }
            // Without an alternate screen, curses leaves the cursor in the last line, where the shell's prompt appears.
            if isGNUScreen || cnc_capability("rmcup") == nil, let clear = cnc_capability("el") {
                write(TerminalModes.withoutPadding(String(cString: clear)))
            }
        }
        var modes = savedModes
        // TCSADRAIN waits until the output was sent in the old modes.
        _ = tcsetattr(descriptor, TCSADRAIN, &modes)
        cnc_guard_disarm()
    }

    /// Adopts the window's size, and returns whether it has changed.
    func resizeToWindow() -> Bool {
        let new = CursesTerminal.windowSize(of: descriptor)
        guard new != size else { return false }
        size = new
        shown = nil
        guard drawsFrames else { return true }
        cnc_resize(Int32(new.rows), Int32(new.columns))
        cnc_invalidate()
        return true
    }

    private func put(_ run: FrameDiff.Run, of frame: Frame) {
        for column in run.columns where column < size.columns {
            let cell = frame[column, run.row]
            if cell.isContinuation { continue }
            let reduced = cell.style.reduced(to: depth)
            let style = colors < 16 && depth > .mono ? reduced.readableInEightColors : reduced
            let attributes = Int32(attributes(of: style))
            let pair = pair(for: style)
            let available = min(Int(cell.width), size.columns - column)
            let pieces = CellPieces.pieces(of: cell.text, width: available, isUTF8: isUTF8, maximum: 5) {
                Int(cnc_width($0))
            }
            for piece in pieces {
                cnc_put(
                    Int32(run.row), Int32(column + piece.column), piece.scalars, Int32(piece.scalars.count),
                    attributes, pair)
            }
        }
    }

    private func sendOutput() {
        var count = 0
        guard let bytes = cnc_take_output(&count), count > 0 else { return }
        let output = palette.translated(UnsafeBufferPointer(start: bytes, count: count))
        write(knowsModes ? TerminalModes.beginUpdate + output + TerminalModes.endUpdate : output)
    }

    private func write(_ bytes: [UInt8]) {
        // A failed write needs no handling: reading input detects a closed terminal.
        if cnc_write(descriptor, bytes, bytes.count) { bytesSent += bytes.count }
    }

    /// The output of ``leave()``, prepared for a signal handler.
    private func restoringBytes() -> [UInt8] {
        var bytes = knowsModes ? TerminalModes.leave : []
        for name in ["sgr0", "op", "rmkx", "cnorm", "rmcup"] {
            if let text = cnc_capability(name) {
                bytes += TerminalModes.withoutPadding(String(cString: text))
            }
        }
        return bytes
    }

    private static func windowSize(of descriptor: Int32) -> Size {
        var rows: Int32 = 24
        var columns: Int32 = 80
        cnc_window_size(descriptor, &rows, &columns)
        return Size(columns: Int(columns), rows: Int(rows))
    }
}

/// `close(2)`, which is hidden by a method of the same name.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

package enum ExhaustedMemory {
    /// Ends the process with `status` and one line on standard error when an allocation fails, instead of Swift's trap. The
    /// terminal is restored. `cleanup` is called before that and must not allocate.
    package static func endsProcess(status: Int32, cleanup: @convention(c) () -> Void) {
        cnc_end_when_exhausted(status, cleanup)
    }
}
