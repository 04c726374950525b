import Foundation

/// Makes messages into bytes. A cache uses it from one thread at a time.
public protocol MessageEncoder {
    func encode<Message: Encodable>(_ message: Message) throws -> Data
}

/// Makes bytes into messages. A cache uses it from one thread at a time.
public protocol MessageDecoder {
    func decode<Message: Decodable>(_ type: Message.Type, from data: Data) throws -> Message
}

extension JSONEncoder: MessageEncoder {}
extension JSONDecoder: MessageDecoder {}
extension PropertyListEncoder: MessageEncoder {}
extension PropertyListDecoder: MessageDecoder {}
