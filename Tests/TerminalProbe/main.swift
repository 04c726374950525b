// A program for the tests of the terminal: shows a text, the last event and, on request, a page of widgets.
//
// usage: TerminalProbe [TEXT]
//
// After each event it writes a line to standard error: the event, and the bytes sent to the terminal so far.
// Keys: q ends it, x calls exit(3), ! crashes it, n shows the same frame again, g shows the widgets, e runs
// $PROBE_EDITOR, w wakes itself from another thread, ctrl+z suspends.

import Foundation
import TerminalCurses
import TerminalKit

/// The variables that describe the terminal.
func environment() -> [String: String] {
    ProcessInfo.processInfo.environment.filter { ["TERM", "COLORTERM", "NO_COLOR"].contains($0.key) }
}

func report(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

func run() throws {
    let terminal = try CursesTerminal(environment: environment())
    let look = Look(
        theme: Theme(.dark, depth: terminal.depth), glyphs: terminal.isUTF8 ? .unicode : .ascii)
    let text = CommandLine.arguments.dropFirst().first ?? ""
    var last = "none"
    var showsWidgets = false

    func frame() -> Frame {
        var frame = Frame(size: terminal.size)
        if showsWidgets {
            Gallery(lastEvent: last).draw(into: &frame, in: frame.bounds, look: look)
            return frame
        }
        frame.write("text: \(text)", at: Point(column: 0, row: 0))
        frame.write("last: \(last)", at: Point(column: 0, row: 1), style: look[.accent])
        frame.write("size: \(terminal.size.columns)x\(terminal.size.rows)", at: Point(column: 0, row: 2))
        frame.cursor = Point(column: 5, row: 0)
        return frame
    }

    terminal.present(frame())
    report("ready depth=\(terminal.depth) utf8=\(terminal.isUTF8) process=\(getpid())")
    while let event = terminal.nextEvent() {
        var name = "\(event)"
        var isRepeated = false
        switch event {
        case .hangUp:
            report("hangUp")
            return
        case .key(let key):
            name = "key \(key)"
            switch key.description {
            case "q":
                terminal.close()
                return
            case "x": exit(3)
            case "!": crash()
            case "n": isRepeated = true
            case "g": showsWidgets.toggle()
            case "e":
                let editor = ProcessInfo.processInfo.environment["PROBE_EDITOR"] ?? "true"
                name = "editor \(try terminal.run(editor, arguments: ["a file"]))"
            case "w":
                let waker = terminal.waker
                Thread.detachNewThread { waker.wake() }
            case "ctrl+z": terminal.suspend()
            default: break
            }
        default: break
        }
        if !isRepeated { last = name }
        terminal.present(frame())
        report("\(name) sent=\(terminal.bytesSent)")
    }
}

/// Reads address 0, as a bug would.
func crash() {
    if let nowhere = UnsafePointer<Int>(bitPattern: 8) { report("\(nowhere.pointee)") }
}

do {
    try run()
} catch {
    report("failed: \(error)")
    exit(1)
}
