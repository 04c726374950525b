import Foundation
import StorageEngine

/// Counts bytes of a cache's file.
public typealias Bytes = UInt64

/// A bounded ring of messages in one file: a log that survives its program. Safe from any thread, and from any number of
/// processes; one message is appended at a time.
///
/// A message is encoded, by a `JSONEncoder` unless another is given, and is in the system's memory when
/// ``append(message:)`` returns: it survives the death of the process. Nothing is kept in this object's memory. The file's
/// format is that of the CacheAdvance library, both ways.
public final class CacheAdvance<Message: Codable>: @unchecked Sendable {
    /// Where the file is.
    public let fileURL: URL

    private let ring: RingFile
    private let encoder: any MessageEncoder
    private let decoder: any MessageDecoder
    private let encoding: CoderTurn
    private let decoding: CoderTurn
    private let begun = NSLock()
    /// Guarded by `begun`.
    private var hasBegun = false

    /// Opens the file, which must exist; an empty one is begun by the first use of this object, with its settings.
    ///
    /// - Parameters:
    ///   - fileURL: a file that may be read and written.
    ///   - maximumBytes: most bytes that the file may have; 64 of them are its header's, and 4 each message's. The same for
    ///     the life of the file: with another, messages can be read and none appended (``isWritable()``).
    ///   - shouldOverwriteOldMessages: whether the oldest messages make room for new ones; else what doesn't fit is refused.
    ///     The same for the life of the file.
    ///   - decoder: undoes what `encoder` does.
    ///   - encoder: makes messages into bytes, at least one. It and `decoder` are used by one thread at a time, but for
    ///     Foundation's own, which any number of threads may use; with others a message's coding must not wait for a
    ///     thread that uses the cache.
    /// - Throws: a `CocoaError` if there is no such file, or it can't be opened.
    public init(
        fileURL: URL, maximumBytes: Bytes, shouldOverwriteOldMessages: Bool,
        decoder: any MessageDecoder = JSONDecoder(), encoder: any MessageEncoder = JSONEncoder()
    ) throws {
        guard fileURL.isFileURL else {
            throw CocoaError(
                .fileReadUnsupportedScheme,
                userInfo: [NSLocalizedDescriptionKey: "\(fileURL) is no file; name one by its path"])
        }
        self.fileURL = fileURL
        self.decoder = decoder
        self.encoder = encoder
        encoding = CoderTurn(of: encoder)
        decoding = CoderTurn(of: decoder)
        do {
            ring = try RingFile(
                path: fileURL.path, maximumBytes: maximumBytes,
                overwritesOldMessages: shouldOverwriteOldMessages)
        } catch {
            throw error.ofOpening(fileURL.path)
        }
    }

    /// The same; the page's own label.
    public convenience init(
        file: URL, maximumBytes: Bytes, shouldOverwriteOldMessages: Bool,
        decoder: any MessageDecoder = JSONDecoder(), encoder: any MessageEncoder = JSONEncoder()
    ) throws {
        try self.init(
            fileURL: file, maximumBytes: maximumBytes, shouldOverwriteOldMessages: shouldOverwriteOldMessages,
            decoder: decoder, encoder: encoder)
    }

    // MARK: Messages

    /// Appends a message. Costs encoding it and nine to twelve system calls. The first one looks whether all that is there can
    /// be read, which costs reading the file.
    ///
    /// - Throws: ``CacheAdvanceError``; what the encoder throws; `EncodingError` if it makes no bytes of the message; a
    ///   `CocoaError` where the file can't be written.
    public func append(message: Message) throws {
        let data = try encoding.with { try encoder.encode(message) }
        guard !data.isEmpty else {
            throw EncodingError.invalidValue(
                message, .init(codingPath: [], debugDescription: "the encoder made no bytes of the message"))
        }
        try translating { () throws(StorageError) in try ring.append(Array(data)) }
    }

    /// All messages, the oldest first. Costs reading the file and decoding them.
    /// - Throws: ``CacheAdvanceError``; what the decoder throws; a `CocoaError` where the file can't be read.
    public func messages() throws -> [Message] {
        try begin()
        let encoded = try translating { () throws(StorageError) in try ring.messages() }
        return try decoding.with { try encoded.map { try decoder.decode(Message.self, from: Data($0)) } }
    }

    /// Whether there is no message.
    public func isEmpty() throws -> Bool {
        try begin()
        return try translating { () throws(StorageError) in try ring.isEmpty() }
    }

    /// Whether messages can be appended: the file is empty, or was made with this maximum and this choice about old messages.
    public func isWritable() throws -> Bool {
        do throws(StorageError) {
            try beginOnce()
            return try ring.isWritable()
        } catch .unsupportedVersion {
            return false
        } catch {
            throw error.ofUse(ring)
        }
    }

    // MARK: More than the page has

    /// Returns when all that was appended before is on the medium, and so survives a power failure until it makes room.
    ///
    /// From the first call on, messages make room for a 64th of the file at once, with one sync. Whoever else appends to the
    /// file must have called this once, too.
    public func synchronize() throws {
        try translating { () throws(StorageError) in try ring.synchronize() }
    }

    /// What is wrong with the file, and at which byte, where the other calls throw `fileCorrupted`; `nil` if nothing is.
    /// Costs reading it.
    public func damage() throws -> String? {
        do throws(StorageError) {
            _ = try ring.outline()
            return nil
        } catch .corrupted(let path, let offset, let reason),
            .damagedRingFile(let path, let offset, let reason)
        {
            return "\(path), byte \(offset): \(reason)"
        } catch {
            throw error.ofUse(ring)
        }
    }

    private func begin() throws { try translating { () throws(StorageError) in try beginOnce() } }

    /// The first to use an empty file says what its settings are, as in the published library. A maximum below the header's
    /// size has no room for one.
    private func beginOnce() throws(StorageError) {
        begun.lock()
        defer { begun.unlock() }
        guard !hasBegun, ring.maximumBytes >= 64 else { return }
        do throws(StorageError) {
            try ring.begin()
        } catch {
            guard case .unsupportedVersion = error else { throw error }
        }
        hasBegun = true
    }

    private func translating<Value>(_ body: () throws(StorageError) -> Value) throws -> Value {
        do throws(StorageError) {
            return try body()
        } catch {
            throw error.ofUse(ring)
        }
    }
}
