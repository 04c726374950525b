/// What a log says of each key, frame by frame: the map that OnDiskFormat, "Reading the log", describes. For one thread.
///
/// Keys are remembered by a 64-bit hash of its own secret, so that keys that were made to collide elsewhere don't here.
/// Some 100 bytes an entry, however long keys are.
struct LogAccount {
    /// The last word on a key.
    struct Word {
        var location: Location
        var valueBytes: UInt32
        /// Whether the log said so (a put, or what removed it) since the check began.
        var isNew: Bool
        var isRemoved: Bool
        /// Whether the index has been found to say the same.
        var isMet = false
    }

    private let kind: ArchiveKind
    private let hash: KeyHash
    var last: [UInt64: Word] = [:]
    /// The key whose last word is at a place, so that an eviction is told from one that came too late.
    private var keys: [Location: UInt64] = [:]
    /// What each reversible action removed and could bring back.
    private var setAside: [UInt32: [UInt64: Word]] = [:]
    /// The action that has a key: one at most, for a key that is recorded anew stays out.
    private var actions: [UInt64: UInt32] = [:]
    /// What was recorded anew since; a `restore` frame of former times brought it back nevertheless.
    private var keptOut: [UInt32: [UInt64: Word]] = [:]
    /// Where what is set aside lies, for an `evict` frame that gives it up.
    private var places: [Location: UInt64] = [:]

    init(kind: ArchiveKind) throws(StorageError) {
        self.kind = kind
        var secret = ByteReader(try RandomSource.bytes(16, for: "a check"))
        hash = KeyHash(k0: secret.uint64(), k1: secret.uint64())
    }

    func hash(of frame: LoggedFrame) -> UInt64 { frame.key.withUnsafeBytes { hash($0) } }

    /// Takes the next frame into account; `isNew`: it was appended since the check began.
    mutating func note(_ frame: LoggedFrame, isNew: Bool) {
        guard isMeant(frame), let kind = frame.header.kind else { return }
        let group = frame.group
        let key = hash(of: frame)
        for place in frame.removed {
            if group == 0, let key = places[place] { keepOut(key) }
            guard let key = keys[place], let word = last[key], !word.isRemoved else { continue }
            if group != 0 { setAside(key, word, by: group) }
            remove(key, isNew: isNew)
        }
        let word = Word(
            location: frame.location, valueBytes: UInt32(frame.header.valueBytes), isNew: isNew,
            isRemoved: false)
        switch kind {
        case .put, .move:
            keepOut(key)
            set(key, word)
        case .message: set(frame.location.raw, word)
        // On disk there is none; whether the process that holds it lives, only the index knows.
        case .delete: remove(key, isNew: isNew)
        case .resident:
            keepOut(key)
            remove(key, isNew: isNew)
        case .deleteAll: removeAll(isNew: isNew)
        case .kept: if group != 0 { setAside(key, word, by: group) }
        case .restore: restore(group, keepsOut: frame.keepsOut, isNew: isNew)
        case .deadline, .evict, .batch, .void: break
        }
    }

    /// Whether a frame says something in an archive of this kind. OnDiskFormat, "Frame kinds".
    private func isMeant(_ frame: LoggedFrame) -> Bool {
        switch frame.header.kind {
        case .put, .move, .resident, .kept, .delete, .deadline: kind != .log && !frame.key.isEmpty
        case .evict, .restore: kind != .log
        case .message: kind == .log
        case .deleteAll, .batch, .void, nil: true
        }
    }

    private mutating func set(_ key: UInt64, _ word: Word) {
        if let before = last[key] { keys[before.location] = nil }
        last[key] = word
        if kind != .log { keys[word.location] = key }
    }

    /// What was removed before the check began is of no interest any more.
    private mutating func remove(_ key: UInt64, isNew: Bool) {
        if let before = last[key] { keys[before.location] = nil }
        if isNew {
            last[key]?.isRemoved = true
            last[key]?.isNew = true
        } else {
            last[key] = nil
        }
    }

    private mutating func removeAll(isNew: Bool) {
        (setAside, actions, keptOut, places) = ([:], [:], [:], [:])
        keys = [:]
        guard isNew else { return last = [:] }
        for key in Array(last.keys) {
            last[key]?.isRemoved = true
            last[key]?.isNew = true
        }
    }

    private mutating func setAside(_ key: UInt64, _ word: Word, by action: UInt32) {
        keepOut(key)
        setAside[action, default: [:]][key] = word
        actions[key] = action
        places[word.location] = key
    }

    /// The key was recorded anew, or given up.
    private mutating func keepOut(_ key: UInt64) {
        guard !actions.isEmpty, let action = actions.removeValue(forKey: key),
            let word = setAside[action]?.removeValue(forKey: key)
        else { return }
        places[word.location] = nil
        keptOut[action, default: [:]][key] = word
    }

    private mutating func restore(_ group: UInt32, keepsOut: Bool, isNew: Bool) {
        var coming = setAside.removeValue(forKey: group) ?? [:]
        let others = keptOut.removeValue(forKey: group) ?? [:]
        if !keepsOut { coming.merge(others) { word, _ in word } }
        for (key, word) in coming {
            if actions[key] == group { actions[key] = nil }
            places[word.location] = nil
        }
        for (key, word) in coming where last[key]?.isRemoved ?? true {
            var back = word
            back.isNew = isNew
            set(key, back)
        }
    }
}
