import Foundation

/// A number of bytes in a cache's file.
public typealias Bytes = UInt64

/// A bounded ring of messages in one file: a log that remains after its program ends. Safe from any thread, and for any number of
/// processes, which append one message at a time.
///
/// When ``append(message:)`` returns, the encoded message is in the system's memory, and survives a crash of the
/// process. This object keeps no messages in memory. The file has the format of the CacheAdvance library: each can read
/// the other's files.
public final class CacheAdvance<Message: Codable>: @unchecked Sendable {
    /// The file's location.
    public let fileURL: URL

    private let ring: RingFile
    private let encoder: any MessageEncoder
    private let decoder: any MessageDecoder
    private let encoding: CoderLock
    private let decoding: CoderLock
    private let begun = NSLock()
    /// Guarded by `begun`.
    private var hasBegun = false

    /// Opens the file, which must exist. An empty file is initialized with these settings at the first use.
    ///
    /// - Parameters:
    ///   - fileURL: a file that may be read and written.
    ///   - maximumBytes: the most bytes that the file may have, including a header of 64 bytes, and 4 bytes for each
    ///     message. Fixed for the life of the file: with a different value messages can be read, but not appended
    ///     (``isWritable()``).
    ///   - shouldOverwriteOldMessages: whether a full file drops its oldest messages for new ones; otherwise messages
    ///     that don't fit are rejected. Fixed for the life of the file.
    ///   - decoder: decodes the encoder's output.
    ///   - encoder: encodes a message as at least one byte. Unless they are Foundation's own, the coders are used by
    ///     one thread at a time, so a message's coding must not wait for another thread that uses the cache.
    /// - Throws: a `CocoaError` if the file doesn't exist or can't be opened.
    public init(
        fileURL: URL, maximumBytes: Bytes, shouldOverwriteOldMessages: Bool,
        decoder: any MessageDecoder = JSONDecoder(), encoder: any MessageEncoder = JSONEncoder()
    ) throws {
        guard fileURL.isFileURL else {
            throw CocoaError(
                .fileReadUnsupportedScheme,
                userInfo: [NSLocalizedDescriptionKey: "\(fileURL) isn't a file URL"])
        }
        self.fileURL = fileURL
        self.decoder = decoder
        self.encoder = encoder
        encoding = CoderLock(of: encoder)
        decoding = CoderLock(of: decoder)
        do {
            ring = try RingFile(
                path: fileURL.path, maximumBytes: maximumBytes,
                overwritesOldMessages: shouldOverwriteOldMessages)
        } catch {
            throw error.ofOpening(fileURL.path)
        }
    }

    /// As ``init(fileURL:maximumBytes:shouldOverwriteOldMessages:decoder:encoder:)``, with another label for the file.
    public convenience init(
        file: URL, maximumBytes: Bytes, shouldOverwriteOldMessages: Bool,
        decoder: any MessageDecoder = JSONDecoder(), encoder: any MessageEncoder = JSONEncoder()
    ) throws {
        try self.init(
            fileURL: file, maximumBytes: maximumBytes, shouldOverwriteOldMessages: shouldOverwriteOldMessages,
            decoder: decoder, encoder: encoder)
    }

    // MARK: Messages

    /// Appends a message. Costs the encoding and nine to twelve system calls. The first call also checks that all
    /// existing messages can be read, which costs reading the file. Throws ``CacheAdvanceError``; errors of the
    /// encoder; `EncodingError` if it returns no bytes; a `CocoaError` if the file can't be written.
    public func append(message: Message) throws {
        let data = try encoding.with { try encoder.encode(message) }
        guard !data.isEmpty else {
            throw EncodingError.invalidValue(
                message,
                .init(codingPath: [], debugDescription: "the encoder returned no bytes for the message"))
        }
        try translating { () throws(RingFileError) in try ring.append(Array(data)) }
    }

    /// All messages, the oldest first. Costs reading the file and decoding them. Throws ``CacheAdvanceError``; errors
    /// of the decoder; a `CocoaError` if the file can't be read.
    public func messages() throws -> [Message] {
        try begin()
        let encoded = try translating { () throws(RingFileError) in try ring.messages() }
        return try decoding.with { try encoded.map { try decoder.decode(Message.self, from: Data($0)) } }
    }

    /// Whether the cache has no messages.
    public func isEmpty() throws -> Bool {
        try begin()
        return try translating { () throws(RingFileError) in try ring.isEmpty() }
    }

    /// Whether messages can be appended: the file is empty, or has the same `maximumBytes` and `shouldOverwriteOldMessages`.
    public func isWritable() throws -> Bool {
        do throws(RingFileError) {
            try beginOnce()
            return try ring.isWritable()
        } catch .unsupportedVersion {
            return false
        } catch {
            throw error.ofUse(ring)
        }
    }

    // MARK: Beyond the published library

    /// Returns once all messages appended before are on the medium, and so survive a power failure. From the first call
    /// on, old messages are dropped in steps of a 64th of the file, with one sync each. All other processes that append
    /// to the file must also have called this once.
    public func synchronize() throws {
        try translating { () throws(RingFileError) in try ring.synchronize() }
    }

    /// Describes the damage if other calls throw `fileCorrupted`, with its byte offset; `nil`: no damage. Costs reading the file.
    public func damage() throws -> String? {
        do throws(RingFileError) {
            _ = try ring.outline()
            return nil
        } catch .damaged(let path, let offset, let reason) {
            return "\(path), byte \(offset): \(reason)"
        } catch {
            throw error.ofUse(ring)
        }
    }

    private func begin() throws { try translating { () throws(RingFileError) in try beginOnce() } }

    /// The first use of an empty file stores the settings in it, if the maximum leaves space for them.
    private func beginOnce() throws(RingFileError) {
        begun.lock()
        defer { begun.unlock() }
        guard !hasBegun, ring.maximumBytes >= 64 else { return }
        do throws(RingFileError) {
            try ring.begin()
        } catch {
            guard case .unsupportedVersion = error else { throw error }
        }
        hasBegun = true
    }

    private func translating<Value>(_ body: () throws(RingFileError) -> Value) throws -> Value {
        do throws(RingFileError) {
            return try body()
        } catch {
            throw error.ofUse(ring)
        }
    }
}
