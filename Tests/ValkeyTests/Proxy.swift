import Foundation
import ServerSupport
import Synchronization

/// Stands between a client and a server on the loopback interface, and may hold up or cut what passes. Its threads end with the
/// connections.
final class Proxy: Sendable {
    private struct State {
        var connections: [(client: Int32, server: Int32)] = []
        var isClosed = false
    }

    let port: Int
    private let target: Int
    private let listener: Int32
    private let state = Mutex(State())
    /// What comes from the server is kept back.
    private let isHeld = Atomic(false)
    /// Nothing passes, and nobody is told.
    private let isSilent = Atomic(false)

    private let delay = Atomic(0)
    /// Connections up to this number are stranded.
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

    /// Ends all connections. New ones are made all the same.
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
    /// Each answer takes so much longer.
    func slow(_ milliseconds: Int) { delay.store(milliseconds, ordering: .releasing) }
    func silence(_ isSilent: Bool) { self.isSilent.store(isSilent, ordering: .releasing) }

    /// What has been sent on the connections that there are now is kept back, whatever becomes of them. New ones work.
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
            // A silent one is none that has ended.
            if count < 0, errno == EAGAIN { continue }
            let isStranded = !isReply && pair.number <= stranded.load(ordering: .acquiring)
            if isStranded, count > 0 {
                kept += buffer[..<count]
                continue
            }
            if count <= 0, !kept.isEmpty {
                // The client is gone, but what it has sent may arrive.
                while pair.number <= stranded.load(ordering: .acquiring), !state.withLock({ $0.isClosed }) {
                    usleep(1000)
                }
                _ = kept.withUnsafeBytes { send(target, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL)) }
                // Its answers are read by nobody.
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
