import Foundation

/// Encodes messages. A cache calls its encoder from one thread at a time, except for Foundation's own encoders.
public protocol MessageEncoder {
    /// Encodes a message. The cache passes errors on to the caller of `append`.
    func encode<Message: Encodable>(_ message: Message) throws -> Data
}

/// Decodes messages. A cache calls its decoder from one thread at a time, except for Foundation's own decoders.
public protocol MessageDecoder {
    /// Decodes a message from the encoder's bytes. The cache passes errors on to the caller of `messages`.
    func decode<Message: Decodable>(_ type: Message.Type, from data: Data) throws -> Message
}

extension JSONEncoder: MessageEncoder {}
extension JSONDecoder: MessageDecoder {}
extension PropertyListEncoder: MessageEncoder {}
extension PropertyListDecoder: MessageDecoder {}

/// Serializes the use of a coder, which may be of any type. Foundation's own are thread-safe and have no lock, so that
/// a message's coding may wait for another thread. Recursive, because the coding may use the cache itself.
struct CoderLock: Sendable {
    private let lock: NSRecursiveLock?

    init(of coder: Any) {
        let sharable: [any Sendable.Type] = [
            JSONEncoder.self, JSONDecoder.self, PropertyListEncoder.self, PropertyListDecoder.self,
        ]
        lock = sharable.contains { $0 == type(of: coder) } ? nil : NSRecursiveLock()
    }

    func with<Value>(_ body: () throws -> Value) rethrows -> Value {
        guard let lock else { return try body() }
        return try lock.withLock(body)
    }
}
