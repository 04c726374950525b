import Foundation
import ServerSupport
import Synchronization

/// A proxy between a client and a server on the loopback interface that can delay or cut connections. Its threads end with
/// the connections.
final class Proxy: Sendable {
    private struct State {
        var connections: [(client: Int32, server: Int32)] = []
        var isClosed = false
    }

    let port: Int
    private let target: Int
    private let listener: Int32
    private let state = Mutex(State())
    /// Holds back data from the server.
    private let isHeld = Atomic(false)
    /// Drops data in both directions without closing connections.
    private let isSilent = Atomic(false)

    private let delay = Atomic(0)
    /// Connections up to this number are held back.
    private let stranded = Atomic(0)
    private let begun = Atomic(0)

    init(to target: Int) throws {
        self.target = target
        (listener, port) = try Loopback.listen()
        Thread.detachNewThread { [listener, weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let self, self.take(client) else {
                    if client >= 0 { close(client) }
                    break
                }
            }
            close(listener)
        }
    }

    deinit { end() }

    func end() {
        state.withLock { $0.isClosed = true }
        cut()
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Closes all connections. New ones are accepted.
    func cut() {
        state.withLock { state in
            for (client, server) in state.connections {
                shutdown(client, Int32(SHUT_RDWR))
                shutdown(server, Int32(SHUT_RDWR))
            }
            state.connections = []
        }
    }

    func hold(_ isHeld: Bool) { self.isHeld.store(isHeld, ordering: .releasing) }
    /// Delays each response.
    func slow(_ milliseconds: Int) { delay.store(milliseconds, ordering: .releasing) }
    func silence(_ isSilent: Bool) { self.isSilent.store(isSilent, ordering: .releasing) }

    /// Holds back data sent on the present connections, also after they are closed. New ones work.
    func strand(_ isStranded: Bool) {
        stranded.store(isStranded ? begun.load(ordering: .acquiring) : 0, ordering: .releasing)
    }

    var url: String { "valkey://127.0.0.1:\(port)" }

    private func take(_ client: Int32) -> Bool {
        guard !state.withLock({ $0.isClosed }) else { return false }
        guard let server = try? Loopback.connect(target) else {
            close(client)
            return true
        }
        state.withLock { $0.connections.append((client, server)) }
        let number = begun.add(1, ordering: .acquiringAndReleasing).newValue
        let pair = Pair(client: client, server: server, number: number)
        Thread.detachNewThread { self.pass(from: client, to: server, isReply: false, pair) }
        Thread.detachNewThread { self.pass(from: server, to: client, isReply: true, pair) }
        return true
    }

    private final class Pair: Sendable {
        let client: Int32
        let server: Int32
        let number: Int
        private let open = Atomic(2)

        init(client: Int32, server: Int32, number: Int) {
            self.client = client
            self.server = server
            self.number = number
        }

        func end() {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
            guard open.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
            close(client)
            close(server)
        }
    }

    private func pass(from source: Int32, to target: Int32, isReply: Bool, _ pair: Pair) {
        defer {
            state.withLock { state in state.connections.removeAll { $0.client == pair.client } }
            pair.end()
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var kept: [UInt8] = []
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            // A silent connection is not closed.
            if count < 0, errno == EAGAIN { continue }
            let isStranded = !isReply && pair.number <= stranded.load(ordering: .acquiring)
            if isStranded, count > 0 {
                kept += buffer[..<count]
                continue
            }
            if count <= 0, !kept.isEmpty {
                // Data sent before the client closed may still arrive.
                while pair.number <= stranded.load(ordering: .acquiring), !state.withLock({ $0.isClosed }) {
                    usleep(1000)
                }
                _ = kept.withUnsafeBytes { send(target, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL)) }
                // Its responses are discarded.
                usleep(50_000)
            }
            guard count > 0 else { return }
            if isReply { usleep(UInt32(delay.load(ordering: .acquiring)) * 1000) }
            while isReply && isHeld.load(ordering: .acquiring), !state.withLock({ $0.isClosed }) {
                usleep(1000)
            }
            if isSilent.load(ordering: .acquiring) { continue }
            var sent = 0
            while sent < count {
                let more = buffer.withUnsafeBytes {
                    send(target, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
                }
                guard more > 0 else { return }
                sent += more
            }
        }
    }
}
