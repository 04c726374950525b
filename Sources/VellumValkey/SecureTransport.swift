#if ValkeyTLS
import NIOCore
import NIOPosix
import NIOTLS
import ValkeyWire

/// A TLS connection for blocking code. Don't use it on an event loop.
package final class SecureTransport: RESPTransport {
    private static let hint = "if there is no TLS at this port, write valkey://"

    package var localName: String? { nil }
    private let channel: any Channel
    private let inbox: Inbox
    private let seconds: Int64

    /// Waits until the server's certificate is verified.
    /// - Parameter seconds: timeout of the connection attempt and of each later call.
    package static func connect(
        to url: ServerURL, within seconds: Int
    ) throws(RESPError) -> any RESPTransport {
        do {
            return try SecureTransport(url, Int64(seconds))
        } catch {
            throw error as? RESPError
                ?? RESPError((error as? ValkeyTLSError)?.reason ?? ValkeySession.reason(error))
        }
    }

    private init(_ url: ServerURL, _ seconds: Int64) throws {
        let (address, tls) = (ValkeyAddress(url), ValkeyTier.TLS(url.encryption))
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let isTrusted = loop.makePromise(of: [UInt8].self)
        let inbox = Inbox(isTrusted, tls, address)
        let connected = ValkeySession.open(address, tls, on: loop, within: .seconds(seconds)) { inbox }
        connected.cascadeFailure(to: isTrusted)
        let late = "no handshake within \(seconds) s; \(SecureTransport.hint)"
        do {
            _ = try SecureTransport.wait(for: isTrusted, seconds, late)
        } catch {
            connected.whenSuccess { $0.close(promise: nil) }
            throw error
        }
        (channel, self.inbox, self.seconds) = (try connected.wait(), inbox, seconds)
    }

    deinit { channel.close(promise: nil) }

    package func send(_ bytes: [UInt8]) throws(RESPError) {
        // The timeout applies to each piece.
        for start in stride(from: 0, to: bytes.count, by: 64 << 10) {
            let piece = channel.allocator.buffer(bytes: bytes[start..<min(start + 64 << 10, bytes.count)])
            let isSent = channel.eventLoop.makePromise(of: Void.self)
            channel.writeAndFlush(piece, promise: isSent)
            do {
                try SecureTransport.wait(for: isSent, seconds, "timeout while sending")
            } catch {
                throw failure(error)
            }
        }
    }

    package func receive() throws(RESPError) -> [UInt8] {
        let promise = channel.eventLoop.makePromise(of: [UInt8].self)
        channel.eventLoop.execute { [inbox, channel] in inbox.take(promise, from: channel) }
        do {
            return try SecureTransport.wait(for: promise, seconds, "timeout while waiting for bytes")
        } catch {
            throw failure(error)
        }
    }

    package func available() throws(RESPError) -> [UInt8] {
        do {
            return try channel.eventLoop.submit { [inbox, channel] in try inbox.available(from: channel) }
                .wait()
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: any Error) -> RESPError {
        if let reason = try? channel.eventLoop.submit({ [inbox] in inbox.reason }).wait() {
            return RESPError(reason)
        }
        return error as? RESPError ?? RESPError(ValkeySession.reason(error))
    }

    private static func wait<Value: Sendable>(
        for promise: EventLoopPromise<Value>, _ seconds: Int64, _ late: String
    ) throws -> Value {
        let loop = promise.futureResult.eventLoop
        let limit = loop.scheduleTask(in: .seconds(seconds)) { promise.fail(RESPError(late)) }
        defer { limit.cancel() }
        return try promise.futureResult.wait()
    }

    /// The data that wasn't received yet, and the result of the handshake. For one event loop.
    private final class Inbox: ChannelInboundHandler, @unchecked Sendable {
        typealias InboundIn = ByteBuffer

        /// Bytes above which no more are read from the socket.
        private static let most = 1 << 20

        private let tls: ValkeyTier.TLS
        private let address: ValkeyAddress
        private var isDone = false
        private var hasAnswered = false
        private var arrived: [UInt8] = []
        /// Succeeds with the next data, the first with none after the handshake.
        private var waiting: EventLoopPromise<[UInt8]>?
        /// Why the connection failed, perhaps after the handshake; nil: it didn't.
        private(set) var reason: String?

        init(_ isTrusted: EventLoopPromise<[UInt8]>, _ tls: ValkeyTier.TLS, _ address: ValkeyAddress) {
            (waiting, self.tls, self.address) = (isTrusted, tls, address)
        }

        func take(_ promise: EventLoopPromise<[UInt8]>, from channel: any Channel) {
            do throws(RESPError) {
                let bytes = try available(from: channel)
                if bytes.isEmpty { waiting = promise } else { promise.succeed(bytes) }
            } catch {
                promise.fail(error)
            }
        }

        /// Returns the bytes that have arrived, perhaps none. Throws if the channel is closed and all are read.
        func available(from channel: any Channel) throws(RESPError) -> [UInt8] {
            guard !arrived.isEmpty else {
                if let reason { throw RESPError(reason) }
                return []
            }
            defer { arrived = [] }
            _ = channel.setOption(.autoRead, value: true)
            return arrived
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            hasAnswered = true
            arrived += unwrapInboundIn(data).readableBytesView
            if let waiting {
                self.waiting = nil
                take(waiting, from: context.channel)
            } else if arrived.count > Inbox.most {
                _ = context.channel.setOption(.autoRead, value: false)
            }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSUserEvent {
                isDone = true
                waiting?.succeed([])
                waiting = nil
            }
            context.fireUserInboundEventTriggered(event)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            end(tls.reason(of: error, context, address) ?? refusal ?? ValkeySession.reason(error))
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            let closed = "the server closed the connection"
            end(refusal ?? (isDone ? closed : "\(closed) before a handshake; \(SecureTransport.hint)"))
            context.fireChannelInactive()
        }

        private var refusal: String? { isDone && !hasAnswered ? tls.refusal(by: address) : nil }

        private func end(_ reason: String) {
            let error = RESPError(self.reason ?? reason)
            self.reason = error.description
            waiting?.fail(error)
            waiting = nil
        }
    }
}
#endif
