import Foundation
import NIOCore
import NIOPosix

/// A minimal client of a Valkey or Redis server: one connection, requests are pipelined. It doesn't parse responses, and
/// finds their ends by their lengths.
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

    /// - Parameter replyBytes: the length of the response.
    /// - Returns: the response, and when it arrived.
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

    /// The value of a key, which has `bytes` bytes.
    func get(_ key: String, bytes: Int) async throws -> [UInt8] {
        let head = "$\(bytes)\r\n".utf8.count
        let (reply, _) = await send([Array("GET".utf8), Array(key.utf8)], replyBytes: head + bytes + 2)
        let value = Array(reply.readableBytesView.dropFirst(head).dropLast(2))
        guard value.starts(with: "VLM1".utf8) else {
            throw BenchmarkError("the server says \(String(buffer: reply))")
        }
        return value
    }

    /// - Returns: when the server's response arrived.
    func set(_ key: String, _ bytes: [UInt8]) async -> UInt64 {
        await send([Array("SET".utf8), Array(key.utf8), bytes], replyBytes: 5).time
    }

    func length(of key: String) async throws -> Int {
        // ":", three digits and the line's end.
        let (reply, _) = await send([Array("STRLEN".utf8), Array(key.utf8)], replyBytes: 6)
        guard let bytes = Int(String(buffer: reply).filter(\.isNumber)), bytes >= 100 else {
            throw BenchmarkError("the server says \(String(buffer: reply))")
        }
        return bytes
    }

    func close() async throws { try await channel.close() }
}
