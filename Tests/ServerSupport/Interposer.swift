import Foundation
import StorageEngine
import ValkeyWire

/// Forwards commands one by one between clients and a server on the loopback interface, as a tunnel does.
package final class Interposer: Sendable {
    package let port: Int
    private let listener: Int32

    /// - Parameters:
    ///   - before: called with each command before it is forwarded.
    ///   - changing: returns the reply to send instead of the server's.
    package init(
        to server: Int, before: @escaping @Sendable ([String]) -> Void = { _ in },
        changing: @escaping @Sendable (_ command: [String], _ answer: [UInt8]) -> [UInt8] = { $1 }
    ) throws {
        (listener, port) = try Loopback.listen()
        let listener = listener
        Thread.detachNewThread {
            while case let client = accept(listener, nil, nil), client >= 0 {
                Thread.detachNewThread {
                    defer { close(client) }
                    guard let upstream = try? Loopback.connect(server) else { return }
                    defer { close(upstream) }
                    Interposer.pass(client, upstream, before, changing)
                }
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Repeats a change through a proxy, while another client sends `command` before the change's first command, then before its
    /// second, and so on until the change has fewer commands. Returns that number.
    package static func interleave(
        _ command: [String], at server: Int, prepare: (Interposer) throws -> Void,
        change: (Interposer) throws -> Void, then check: (_ step: Int, Interposer) throws -> Void
    ) throws -> Int {
        let step = Guarded(0)
        let count = Guarded(0)
        let other = RESPCommand(words: command.map { Array($0.utf8) })
        let proxy = try Interposer(
            to: server,
            before: { _ in
                let place = count.withLock { count in
                    count += 1
                    return count
                }
                if place == step.withLock({ $0 }) { _ = try? PlainClient(port: server).command(other) }
            })
        var number = 1
        while true {
            try prepare(proxy)
            count.withLock { $0 = 0 }
            step.withLock { $0 = number }
            try change(proxy)
            step.withLock { $0 = 0 }
            if count.withLock({ $0 }) < number { return number }
            try check(number, proxy)
            number += 1
        }
    }

    private static func pass(
        _ client: Int32, _ server: Int32, _ before: ([String]) -> Void,
        _ changing: ([String], [UInt8]) -> [UInt8]
    ) {
        var commands = RESPDecoder()
        while let arrived = received(client) {
            commands.append(arrived)
            while let command = (try? commands.next())?.elements {
                let words = command.map { word -> [UInt8] in
                    if case .bytes(let bytes) = word { bytes } else { [] }
                }
                let texts = words.map { String(decoding: $0, as: UTF8.self) }
                before(texts)
                var bytes: [UInt8] = []
                RESPCommand(words: words).encode(into: &bytes)
                guard send(bytes, to: server), let answer = answer(from: server),
                    send(changing(texts, answer), to: client)
                else { return }
            }
        }
    }

    private static func answer(from server: Int32) -> [UInt8]? {
        var decoder = RESPDecoder()
        var bytes: [UInt8] = []
        while let arrived = received(server) {
            bytes += arrived
            decoder.append(arrived)
            guard let value = try? decoder.next() else { continue }
            _ = value
            return bytes
        }
        return nil
    }

    private static func received(_ socket: Int32) -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &buffer, buffer.count, 0)
        return count > 0 ? buffer[..<count] : nil
    }

    private static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }
}
