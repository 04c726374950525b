import CacheAdvance
import Foundation
import TestSupport

/// A folder that is removed with the object.
final class Folder {
    let url: URL
    var path: String { url.path }

    /// `inMemory` if the medium doesn't matter, since syncs take time.
    init(inMemory: Bool = false) throws {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let hasMemory = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
        url = (hasMemory ? memory : FileManager.default.temporaryDirectory)
            .appendingPathComponent("cache-advance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { discard(path) }

    /// A new file with these bytes.
    func file(_ content: Data = Data(), named name: String = UUID().uuidString) throws -> URL {
        let file = url.appendingPathComponent(name)
        try content.write(to: file)
        return file
    }
}

/// A message coder that stores messages unchanged.
struct Plain: MessageEncoder, MessageDecoder {
    struct NoData: Error {}

    func encode<Message: Encodable>(_ message: Message) throws -> Data {
        guard let data = message as? Data else { throw NoData() }
        return data
    }

    func decode<Message: Decodable>(_ type: Message.Type, from data: Data) throws -> Message {
        guard let message = data as? Message else { throw NoData() }
        return message
    }
}

func plainCache(_ file: URL, _ maximum: UInt64, overwrites: Bool = true) throws -> CacheAdvance<Data> {
    try CacheAdvance(
        fileURL: file, maximumBytes: maximum, shouldOverwriteOldMessages: overwrites, decoder: Plain(),
        encoder: Plain())
}
