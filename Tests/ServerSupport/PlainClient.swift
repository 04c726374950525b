import Foundation
import ValkeyWire

/// Sends a command and waits for its reply. For one thread at a time.
package final class PlainClient {
    private let socket: Int32
    private var decoder = RESPDecoder()

    package init(port: Int) throws {
        socket = try Loopback.connect(port)
        guard try command("PING") == .status("PONG") else { throw POSIXError(.EAGAIN) }
    }

    deinit { close(socket) }

    @discardableResult
    package func command(_ words: String...) throws -> RESPValue {
        try command(RESPCommand(words: words.map { Array($0.utf8) }))
    }

    @discardableResult
    package func command(_ command: RESPCommand) throws -> RESPValue {
        var bytes: [UInt8] = []
        command.encode(into: &bytes)
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { throw POSIXError(.EPIPE) }
            rest = rest.dropFirst(sent)
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let value = try decoder.next() { return value }
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { throw POSIXError(.EPIPE) }
            decoder.append(buffer[..<count])
        }
    }
}
