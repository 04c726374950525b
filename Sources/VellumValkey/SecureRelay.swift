#if ValkeyTLS
import NIOCore
import NIOPosix
import NIOTLS
import StorageEngine
import SystemC

/// A TLS connection for blocking code: an event loop relays it to a pair of sockets.
package struct SecureRelay: Sendable {
    /// The socket for plain text, which the caller must close. It is closed with the server's connection.
    package let descriptor: Int32
    private let failure: Failure

    /// Why the connection failed, perhaps after the handshake; `nil`: it didn't.
    package var trouble: String? { failure.reason.withLock { $0 } }

    fileprivate final class Failure: Sendable { let reason = Guarded<String?>(nil) }

    /// Waits until the server's certificate is verified. Don't call it on an event loop.
    package init(
        to address: ValkeyAddress, _ tls: ValkeyTier.TLS, within seconds: Int
    ) throws(ValkeyTLSError) {
        let failure = Failure()
        (descriptor, self.failure) = (try SecureRelay.connect(to: address, tls, seconds, failure), failure)
    }

    private static func connect(
        to address: ValkeyAddress, _ tls: ValkeyTier.TLS, _ seconds: Int, _ failure: Failure
    ) throws(ValkeyTLSError) -> Int32 {
        var pair: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamSocket, 0, &pair) == 0 else {
            throw ValkeyTLSError(reason: String(cString: strerror(errno)))
        }
        for descriptor in pair { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        do {
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let near = try ClientBootstrap(group: loop).channelOption(.autoRead, value: false)
                .withConnectedSocket(pair[1]).wait()
            pair[1] = -1
            do {
                let far = try connect(to: address, tls, seconds, failure, on: loop, for: near)
                do {
                    try near.pipeline.addHandler(Relay(to: far)).wait()
                    try near.setOption(.autoRead, value: true).wait()
                } catch {
                    far.close(promise: nil)
                    throw error
                }
            } catch {
                near.close(promise: nil)
                throw error
            }
            return pair[0]
        } catch {
            for descriptor in pair where descriptor >= 0 { close(descriptor) }
            // A server that refuses a certificate closes the connection after the handshake.
            if let reason = failure.reason.withLock({ $0 }) { throw ValkeyTLSError(reason: reason) }
            throw error as? ValkeyTLSError ?? ValkeyTLSError(reason: ValkeySession.reason(error))
        }
    }

    private static func connect(
        to address: ValkeyAddress, _ tls: ValkeyTier.TLS, _ seconds: Int, _ failure: Failure,
        on loop: any EventLoop,
        for near: any Channel
    ) throws -> any Channel {
        let isTrusted = loop.makePromise(of: Void.self)
        let late = ValkeyTLSError(
            reason:
                "no handshake within \(seconds) s; \(Handshake.hint)")
        let limit = loop.scheduleTask(in: .seconds(Int64(seconds))) { isTrusted.fail(late) }
        defer { limit.cancel() }
        let connected = ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connectTimeout(.seconds(Int64(seconds)))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try tls.secure(channel, to: address.host)
                    try channel.pipeline.syncOperations.addHandlers(
                        Handshake(isTrusted, failure, tls, address), Relay(to: near))
                }
            }
            .connect(host: address.host, port: address.port)
        connected.cascadeFailure(to: isTrusted)
        do {
            try isTrusted.futureResult.wait()
        } catch {
            connected.whenSuccess { $0.close(promise: nil) }
            throw error
        }
        return try connected.wait()
    }
}

/// Reports the result of the handshake. For one event loop.
private final class Handshake: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let isTrusted: EventLoopPromise<Void>
    private let failure: SecureRelay.Failure
    private let tls: ValkeyTier.TLS
    private let address: ValkeyAddress

    init(
        _ isTrusted: EventLoopPromise<Void>, _ failure: SecureRelay.Failure, _ tls: ValkeyTier.TLS,
        _ address: ValkeyAddress
    ) {
        (self.isTrusted, self.failure, self.tls, self.address) = (isTrusted, failure, tls, address)
    }

    /// A server without TLS may wait for the end of a line.
    static let hint = "if there is no TLS at this port, write valkey://"

    private var isDone = false
    private var hasAnswered = false

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            isDone = true
            isTrusted.succeed()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasAnswered = true
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        note(
            tls.reason(of: error, context, address) ?? unanswered ?? ValkeySession.reason(error))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        note(
            unanswered
                ?? (isDone ? nil : "the server closed the connection before a handshake; \(Handshake.hint)"))
        context.fireChannelInactive()
    }

    private var unanswered: String? { isDone && !hasAnswered ? tls.refusal(by: address) : nil }

    private func note(_ reason: String?) {
        guard let reason else { return }
        failure.reason.withLock { $0 = $0 ?? reason }
        isTrusted.fail(ValkeyTLSError(reason: reason))
    }
}

/// Forwards data to its partner, and closes it with its own channel. For one event loop.
private final class Relay: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let partner: any Channel

    init(to partner: any Channel) { self.partner = partner }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        partner.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        _ = partner.setOption(.autoRead, value: context.channel.isWritable)
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        partner.writeAndFlush(context.channel.allocator.buffer(capacity: 0)).whenComplete { [partner] _ in
            partner.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
#endif
