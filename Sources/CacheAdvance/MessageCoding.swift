import Foundation

/// Makes messages into bytes. A cache uses it from one thread at a time, but for Foundation's own.
public protocol MessageEncoder {
    func encode<Message: Encodable>(_ message: Message) throws -> Data
}

/// Makes bytes into messages. A cache uses it from one thread at a time, but for Foundation's own.
public protocol MessageDecoder {
    func decode<Message: Decodable>(_ type: Message.Type, from data: Data) throws -> Message
}

extension JSONEncoder: MessageEncoder {}
extension JSONDecoder: MessageDecoder {}
extension PropertyListEncoder: MessageEncoder {}
extension PropertyListDecoder: MessageDecoder {}

/// Lets one thread at a time use a coder, which may be anything. Foundation's own need no such turn, and have none: a message's
/// coding may wait for another thread, also for one that uses the cache. Recursive, since it may use the cache itself.
struct CoderTurn: Sendable {
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
