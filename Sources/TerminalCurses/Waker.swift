/// Wakes the thread that waits for input. Thread-safe: its descriptors never change.
package final class Waker: Sendable {
    let readEnd: Int32
    let writeEnd: Int32

    init() throws(TerminalError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TerminalError.system(call: "pipe", code: errno) }
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends {
            // A full pipe must never block a store's thread or a signal handler.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Ends the terminal's wait with ``TerminalKit/InputEvent/wake``. Several calls before the event count as one.
    package func wake() {
        var byte = UInt8(ascii: "w")
        _ = write(writeEnd, &byte, 1)
    }

    /// Empties the pipe, and returns whether ``wake()`` was called since the last time.
    func drain() -> Bool {
        var woken = false
        var buffer = [UInt8](repeating: 0, count: 512)
        while true {
            let count = read(readEnd, &buffer, buffer.count)
            guard count > 0 else { return woken }
            woken = woken || buffer[..<count].contains(UInt8(ascii: "w"))
        }
    }
}
