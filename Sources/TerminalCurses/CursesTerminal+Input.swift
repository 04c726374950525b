import CNcurses
import TerminalKit

extension CursesTerminal {
    /// Waits for the next event; nil after the timeout. After ``TerminalKit/InputEvent/hangUp`` always returns that event.
    package func nextEvent(timeoutMilliseconds: Int? = nil) -> InputEvent? {
        let deadline = timeoutMilliseconds.map { CursesTerminal.milliseconds() + UInt64(max(0, $0)) }
        while true {
            if !queue.isEmpty { return queue.removeFirst() }
            handleSignals()
            if !queue.isEmpty { continue }
            let end = [deadline, decoder.deadline].compactMap { $0 }.min()
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: waker.readEnd, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&waiting, 2, end.map(CursesTerminal.wait(until:)) ?? -1)
            if ready < 0, errno != EINTR { return .hangUp }
            if ready == 0 {
                let now = CursesTerminal.milliseconds()
                if let waits = decoder.deadline, waits <= now {
                    accept(decoder.flush())
                } else if let deadline, deadline <= now {
                    return nil
                }
            }
            guard ready > 0 else { continue }
            if waiting[1].revents != 0, waker.drain() { queue.append(.wake) }
            if waiting[0].revents != 0 { readInput() }
        }
    }

    /// Reads the available input. A read of 0 bytes means that the terminal was closed.
    private func readInput() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        if count > 0 {
            accept(decoder.feed(buffer[..<count], at: CursesTerminal.milliseconds()))
        } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
            queue.append(.hangUp)
        }
    }

    private func accept(_ events: [InputEvent]) {
        for event in events {
            guard case .mouse(let mouse) = event else {
                queue.append(event)
                continue
            }
            queue += clicks.events(for: mouse, at: CursesTerminal.milliseconds()).map { .mouse($0) }
        }
    }

    package func forgetInput() {
        _ = tcflush(descriptor, TCIFLUSH)
        accept(decoder.flush())
        queue.removeAll { event in
            switch event {
            case .key, .paste, .mouse: true
            default: false
            }
        }
    }

    private func handleSignals() {
        let signals = cnc_take_signals()
        if signals & Int32(CNC_STOP_REQUESTED) != 0 {
            suspend()
        } else if signals & Int32(CNC_CONTINUED) != 0 {
            // Another process stopped and continued this one; the shell may have used the terminal since the stop.
            leave()
            enter()
            queue.append(.resumed)
        }
        if signals & Int32(CNC_RESIZED) != 0, resizeToWindow() { queue.append(.resize(size)) }
    }

    /// Suspends the process as Control-Z does: releases the terminal, stops the process group, and takes the terminal again
    /// when it is continued. The event ``TerminalKit/InputEvent/resumed`` follows.
    package func suspend() {
        leave()
        cnc_stop_group()
        enter()
        queue.append(.resumed)
    }

    /// Milliseconds until a time of ``milliseconds()``, for `poll`; 0 if it has passed.
    package static func wait(until moment: UInt64) -> Int32 {
        let now = milliseconds()
        return Int32(min(max(moment, now) - now, 1 << 30))
    }

    /// The monotonic clock.
    package static func milliseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }

    static func terminalSequences() -> [[UInt8]: Key] {
        var named: [(String, KeyCode)] = [
            ("kcuu1", .up), ("kcud1", .down), ("kcub1", .left), ("kcuf1", .right), ("khome", .home),
            ("kend", .end), ("kpp", .pageUp), ("knp", .pageDown), ("kdch1", .delete), ("kich1", .insert),
            ("kcbt", .backTab), ("kent", .enter),
        ]
        named += (1...12).map { ("kf\($0)", .function($0)) }
        var sequences: [[UInt8]: Key] = [:]
        for (name, code) in named {
            guard let text = cnc_capability(name) else { continue }
            let bytes = TerminalModes.withoutPadding(String(cString: text))
            if bytes.count > 1, bytes.first == 0x1b { sequences[bytes] = Key(code) }
        }
        return sequences
    }
}
