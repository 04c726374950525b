#if ValkeyTLS
import Dispatch
import NIOCore
import NIOPosix
import NIOTLS

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A connection with TLS for code that reads and writes a descriptor and waits: what passes is carried between the descriptor and the
/// server by an event loop.
package enum SecureRelay {
    /// Waits until the server's certificate was found to be right. Not from an event loop.
    /// - Returns: one end of a pair of sockets, the caller's to close. It is at its end when the server's connection is.
    package static func connect(
        to address: ValkeyAddress, _ tls: ValkeyTier.TLS, within seconds: Int
    ) throws(ValkeyTLSError) -> Int32 {
        var pair: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, stream, 0, &pair) == 0 else {
            throw ValkeyTLSError(reason: String(cString: strerror(errno)))
        }
        for descriptor in pair { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        do {
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let near = try ClientBootstrap(group: loop).channelOption(.autoRead, value: false)
                .withConnectedSocket(pair[1]).wait()
            pair[1] = -1
            do {
                let far = try connect(to: address, tls, seconds, on: loop, for: near)
                try near.pipeline.addHandler(Relay(to: far)).wait()
                try near.setOption(.autoRead, value: true).wait()
            } catch {
                near.close(promise: nil)
                throw error
            }
            return pair[0]
        } catch {
            for descriptor in pair where descriptor >= 0 { close(descriptor) }
            throw error as? ValkeyTLSError ?? ValkeyTLSError(reason: ValkeySession.reason(error))
        }
    }

    private static func connect(
        to address: ValkeyAddress, _ tls: ValkeyTier.TLS, _ seconds: Int, on loop: any EventLoop,
        for near: any Channel
    ) throws -> any Channel {
        let isTrusted = loop.makePromise(of: Void.self)
        let late = ValkeyTLSError(reason: "no handshake within \(seconds) s")
        let limit = loop.scheduleTask(in: .seconds(Int64(seconds))) { isTrusted.fail(late) }
        defer { limit.cancel() }
        let connected = ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connectTimeout(.seconds(Int64(seconds)))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try tls.secure(channel, to: address.host)
                    try channel.pipeline.syncOperations.addHandlers(
                        Handshake(isTrusted, tls, address), Relay(to: near))
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

    #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
    private static let stream = SOCK_STREAM
    #endif
}

/// Says how the handshake went. Belongs to an event loop.
private final class Handshake: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let isTrusted: EventLoopPromise<Void>
    private let tls: ValkeyTier.TLS
    private let address: ValkeyAddress

    init(_ isTrusted: EventLoopPromise<Void>, _ tls: ValkeyTier.TLS, _ address: ValkeyAddress) {
        (self.isTrusted, self.tls, self.address) = (isTrusted, tls, address)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { isTrusted.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The first of several says why.
        isTrusted.fail(
            ValkeyTLSError(reason: tls.reason(of: error, context, address) ?? ValkeySession.reason(error)))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        isTrusted.fail(ValkeyTLSError(reason: "the server closed the connection"))
        context.fireChannelInactive()
    }
}

/// Passes on what arrives, and ends its partner with its own channel. Belongs to an event loop.
private final class Relay: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let partner: any Channel

    init(to partner: any Channel) { self.partner = partner }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        partner.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { partner.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
#endif
