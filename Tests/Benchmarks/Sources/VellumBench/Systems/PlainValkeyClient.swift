import Foundation
import NIOCore
import NIOPosix

/// A client of a Valkey or Redis server as a program would write it for itself: one connection, requests sent without waiting for
/// the answers to former ones. It doesn't look into them, and knows from their length where they end.
final class PlainValkeyClient: Sendable {
    private final class Replies: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private var bytes = ByteBuffer()
        var waiting = CircularBuffer<(Int, @Sendable (ByteBuffer, UInt64) -> Void)>()

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let time = Clock.now()
            bytes.writeImmutableBuffer(unwrapInboundIn(data))
            while let (count, then) = waiting.first, let reply = bytes.readSlice(length: count) {
                waiting.removeFirst()
                then(reply, time)
            }
            bytes.discardReadBytes()
        }
    }

    private let channel: any Channel
    private let replies: NIOLoopBound<Replies>

    init(port: Int) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        (channel, replies) = try await ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let replies = Replies()
                    try channel.pipeline.syncOperations.addHandler(replies)
                    return (channel, NIOLoopBound(replies, eventLoop: loop))
                }
            }
    }

    /// - Parameter replyBytes: how many the answer has.
    /// - Returns: the answer, and when it was there.
    @discardableResult
    func send(_ words: [[UInt8]], replyBytes: Int) async -> (reply: ByteBuffer, time: UInt64) {
        var request = ByteBuffer()
        request.writeString("*\(words.count)\r\n")
        for word in words {
            request.writeString("$\(word.count)\r\n")
            request.writeBytes(word)
            request.writeString("\r\n")
        }
        return await withCheckedContinuation { continuation in
            channel.eventLoop.execute { [request] in
                self.replies.value.waiting.append((replyBytes, { continuation.resume(returning: ($0, $1)) }))
                self.channel.writeAndFlush(request, promise: nil)
            }
        }
    }

    /// The value of a key that has so many bytes.
    func get(_ key: String, bytes: Int) async throws -> [UInt8] {
        let head = "$\(bytes)\r\n".utf8.count
        let (reply, _) = await send([Array("GET".utf8), Array(key.utf8)], replyBytes: head + bytes + 2)
        let value = Array(reply.readableBytesView.dropFirst(head).dropLast(2))
        guard value.starts(with: "VLM1".utf8) else {
            throw BenchmarkError("the server says \(String(buffer: reply))")
        }
        return value
    }

    /// - Returns: when the server's answer was there.
    func set(_ key: String, _ bytes: [UInt8]) async -> UInt64 {
        await send([Array("SET".utf8), Array(key.utf8), bytes], replyBytes: 5).time
    }

    func length(of key: String) async throws -> Int {
        // Of three digits: ":" and the line's end besides.
        let (reply, _) = await send([Array("STRLEN".utf8), Array(key.utf8)], replyBytes: 6)
        guard let bytes = Int(String(buffer: reply).filter(\.isNumber)), bytes >= 100 else {
            throw BenchmarkError("the server says \(String(buffer: reply))")
        }
        return bytes
    }

    func close() async throws { try await channel.close() }
}
