/// The effect of a frame on the archive. Values: OnDiskFormat, "Frame kinds".
enum FrameKind: UInt8, Sendable {
    /// The entry of this key has this value. May also contain evictions.
    case put = 1
    case delete = 2
    case deleteAll = 3
    /// The entries at the listed locations were removed, for the reason in the extension.
    case evict = 4
    /// A live `put` frame, copied because its segment is being reclaimed.
    case move = 5
    /// The entry of this key has another expiry time; its value stays.
    case deadline = 6
    /// The entries that a reversible action removed are restored.
    case restore = 7
    case message = 8
    /// The entry of this key is only in the memory of one process.
    case resident = 9
    /// A tombstoned entry's frame, copied because its segment is being reclaimed.
    case kept = 11
    /// Fills a damaged range, so that the frames after it are found.
    case void = 10
    /// The following frames are one change: all of them count or none.
    case batch = 12

    /// Bytes of the newest segment's reserve that such a frame must leave: few if it frees space; only `deleteAll` may use the last.
    @inline(__always) var reserveLeft: Int {
        switch self {
        case .deleteAll: 0
        case .restore, .delete: Frame.bytes(key: 0, extension: 0, value: 0)
        // Also leaves the bytes for an undo of this removal.
        case .evict:
            Frame.bytes(key: 0, extension: 0, value: 0)
                + Frame.bytes(key: 0, extension: FrameExtension.partBytes(RemovalNote.bytes), value: 0)
        default: SegmentLayout.reserveBytes
        }
    }
    /// The kind for which a damaged frame counts in a cache (OnDiskFormat, "Damage in a cache"): its value is lost, and entries
    /// that it replaced or removed stay removed.
    var kindIfDamaged: FrameKind {
        switch self {
        case .put, .move, .resident, .delete, .deadline: .delete
        case .deleteAll, .evict: self
        case .restore, .message, .kept, .void, .batch: .void
        }
    }
    var hasKey: Bool { kindIfDamaged == .delete || self == .kept }
    var storesEntry: Bool { self == .put || self == .move || self == .resident }
}

/// The change of an archive's entries or messages by one frame. OnDiskFormat, "Reading the log".
enum LogChange {
    /// Removes the entries that the frame names, and stores its value under its key. An outdated copy has no effect on its key.
    case store(isCopy: Bool)
    /// Removes the entries that the frame names, and replaces its key's value on disk by one in memory, unless it is outdated.
    case storeInMemory
    /// Removes the entries that the frame names, and the entry of its key.
    case remove
    case removeAll
    /// Stores a value that can't be read, in a collection: the older one of its key stays. A later frame that removes the lost entry
    /// by its location removes the older one.
    case storeDamaged
    /// Removes the entries that the frame names, or tombstones them for an action that can be undone.
    case evict(RemovalNote?)
    /// Changes the expiry time of the key's entry, perhaps by an action that can be undone.
    case setDeadline(RemovalNote?)
    /// A copy of an entry that this action tombstoned.
    case tombstone(RemovalNote)
    case restore(RemovalNote?)
    /// Appends a message, and drops those before a location.
    case append(oldest: Location)
    /// Drops the messages before a location, in a log archive.
    case shorten(oldest: Location)
    case none
}

extension Frame {
    /// Decodes the frame for an archive of this kind. Doesn't allocate.
    @inline(__always) func change(in archive: ArchiveKind, at location: Location) -> LogChange {
        let (isLog, isOfEntry) = (archive == .log, archive != .log && keyBytes > 0)
        if isDamaged, archive == .collection {
            return isOfEntry && FrameKind(rawValue: rawKind)?.storesEntry == true ? .storeDamaged : .none
        }
        switch kind {
        case .put: return isOfEntry ? .store(isCopy: false) : .none
        case .move: return isOfEntry ? .store(isCopy: true) : .none
        case .resident: return isOfEntry ? .storeInMemory : .none
        case .delete: return isOfEntry ? .remove : .none
        case .deleteAll: return .removeAll
        case .evict: return isLog ? .shorten(oldest: oldestMessage(at: location)) : .evict(undoableRemoval)
        case .deadline: return isOfEntry ? .setDeadline(undoableRemoval) : .none
        case .kept: return isOfEntry ? undoableRemoval.map { .tombstone($0) } ?? .none : .none
        case .restore: return isLog ? .none : .restore(RemovalNote(of: self))
        case .message: return isLog ? .append(oldest: oldestMessage(at: location)) : .none
        case .batch, .void, nil: return .none
        }
    }

    private var undoableRemoval: RemovalNote? {
        RemovalNote(of: self).flatMap { $0.group == 0 ? nil : $0 }
    }

    /// The oldest message that remains in a log archive, which `created` names; 0: none before this frame.
    private func oldestMessage(at location: Location) -> Location {
        let named = Location(raw: UInt64(bitPattern: created))
        return named == .none ? location : min(named, location)
    }
}
