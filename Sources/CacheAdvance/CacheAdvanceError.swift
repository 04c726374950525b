import Foundation
import SystemC

/// An error of a call on a cache.
///
/// The error for a message that is too large can be written in two ways: as ``messageDataTooLarge``, or as one of the
/// two cases that the CacheAdvance library has for it. ``messageDataTooLarge`` equals, and matches, either case; a
/// pattern that names a case matches only this case.
public enum CacheAdvanceError: Error, Sendable {
    /// The message wouldn't even fit into an empty cache.
    case messageLargerThanCacheCapacity
    /// The cache doesn't overwrite old messages, and has no space left for this one.
    case messageLargerThanRemainingCacheSize
    /// The file has another version of the format.
    case incompatibleHeader(persistedVersion: UInt8)
    /// The file was created with other settings (`maximumBytes`, `shouldOverwriteOldMessages`). It can only be read.
    case fileNotWritable
    /// The file doesn't have the expected format: see ``CacheAdvance/CacheAdvance/damage()``. Delete it.
    case fileCorrupted

    /// The message doesn't fit. Matches both cases for this error.
    public static let messageDataTooLarge = CacheAdvanceError.messageLargerThanCacheCapacity

    /// Lets an error be caught by the name of a constant: `catch CacheAdvanceError.messageDataTooLarge`.
    public static func ~= (pattern: CacheAdvanceError, error: any Error) -> Bool {
        (error as? CacheAdvanceError) == pattern
    }
}

extension CacheAdvanceError: Equatable {
    /// The two cases for a message that is too large are equal.
    public static func == (one: CacheAdvanceError, other: CacheAdvanceError) -> Bool {
        switch (one, other) {
        case (.incompatibleHeader(let one), .incompatibleHeader(let other)): one == other
        case (.fileNotWritable, .fileNotWritable), (.fileCorrupted, .fileCorrupted): true
        default: one.isAboutSpace && other.isAboutSpace
        }
    }

    private var isAboutSpace: Bool {
        switch self {
        case .messageLargerThanCacheCapacity, .messageLargerThanRemainingCacheSize: true
        default: false
        }
    }
}

extension CacheAdvanceError: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .messageLargerThanCacheCapacity:
            "the message is larger than the whole cache; store less, or create a file with a larger maximumBytes"
        case .messageLargerThanRemainingCacheSize:
            "the cache is full and keeps its old messages; start another file, or one that overwrites old messages"
        case .incompatibleHeader(let version):
            "the cache's file has format version \(version), and this program reads version 1; update the program, or "
                + "start another file"
        case .fileNotWritable:
            "the cache's file was created with another maximumBytes or shouldOverwriteOldMessages; open it with these, or "
                + "start another file"
        case .fileCorrupted:
            "the cache's file is damaged; damage() reports where; delete it and start a new one"
        }
    }

    public var errorDescription: String? { description }
}

extension RingFileError {
    func ofUse(_ ring: RingFile) -> any Error {
        switch self {
        case .messageTooLarge(let bytes, _, _):
            UInt64(bytes) + 4 > ring.maximumBytes - min(64, ring.maximumBytes)
                || bytes > RingFile.maximumMessageBytes
                ? CacheAdvanceError.messageLargerThanCacheCapacity
                : CacheAdvanceError.messageLargerThanRemainingCacheSize
        case .unsupportedVersion(_, let found): CacheAdvanceError.incompatibleHeader(persistedVersion: found)
        case .otherSettings: CacheAdvanceError.fileNotWritable
        case .damaged: CacheAdvanceError.fileCorrupted
        case .closed:
            cocoa(
                .fileNoSuchFile, ring.path,
                "\(ring.path) was removed, or was opened by the process that this one is a fork of; open the cache again"
            )
        default: ofOpening(ring.path)
        }
    }

    /// An error like those of Foundation's file handles. A path that isn't a regular file isn't a corrupted cache.
    func ofOpening(_ path: String) -> any Error {
        switch self {
        case .system(_, _, ENOENT), .system(_, _, ENOTDIR):
            cocoa(
                .fileNoSuchFile, path,
                "there is no file at \(path); create an empty one, for example with FileManager's createFile(atPath:contents:)"
            )
        case .system(_, _, EACCES), .system(_, _, EPERM), .system(_, _, EROFS):
            cocoa(.fileWriteNoPermission, path, description)
        case .system(_, _, ENOSPC), .system(_, _, EDQUOT): cocoa(.fileWriteOutOfSpace, path, description)
        default: cocoa(.fileWriteUnknown, path, description)
        }
    }

    private func cocoa(_ code: CocoaError.Code, _ path: String, _ text: String) -> CocoaError {
        CocoaError(
            code,
            userInfo: [
                NSLocalizedDescriptionKey: text, NSFilePathErrorKey: path, NSUnderlyingErrorKey: self,
            ])
    }
}
