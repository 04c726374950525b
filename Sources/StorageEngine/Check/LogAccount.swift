/// What a log says of each key of a part, frame by frame: the map that OnDiskFormat, "Reading the log", describes. For one
/// thread.
///
/// Keys are remembered by 64 bits, of which half are a hash of its own secret, so that keys that were made to collide elsewhere
/// don't here. Some 100 bytes an entry, however long keys are.
struct LogAccount {
    /// Keys that are looked at in one reading of a log: those whose hash begins with some bits. All
    /// at first.
    struct Part {
        private var depth: UInt32 = 0
        private var prefix: UInt32 = 0

        @inline(__always)
        func contains(_ tag: UInt32) -> Bool { tag >> (32 - depth) == prefix }

        /// Leaves half of it; `nil`: there are no halves. Returns the other.
        mutating func halve() -> Part? {
            guard depth < 32 else { return nil }
            (depth, prefix) = (depth + 1, prefix << 1)
            return Part(depth: depth, prefix: prefix | 1)
        }
    }

    /// The last word on a key.
    struct Word {
        var location: Location
        var valueBytes: UInt32
        /// Whether the log said so (a put, or what removed it) since the check began.
        var isNew: Bool
        var isRemoved: Bool
        /// Whether the index has been found to say the same.
        var isMet = false
        /// Its frame's.
        var sequence: UInt64
    }

    private let kind: ArchiveKind
    private let hash: KeyHash
    /// That of the archive, which parts go by.
    private let tagHash: KeyHash
    private(set) var part: Part
    /// Of a log archive: messages before that have been dropped.
    private(set) var oldestMessage = Location.none
    /// Messages that are remembered until those that were dropped since are looked for.
    private var most = 10_000
    private(set) var last: [UInt64: Word] = [:]
    /// The key whose last word is at a place, so that an eviction is told from one that came too late.
    private var keys: [Location: UInt64] = [:]
    /// What a reversible action removed and could bring back.
    private struct Aside {
        var word: Word
        /// Its key was recorded anew.
        var isSuperseded = false
    }

    /// Of each key what is set aside of it, by the place of its action in the table: one of an action at most.
    private var aside: [UInt64: [Int: Aside]] = [:]
    /// The action of each place of the table, and the keys of which it has something.
    private var actions: [Int: (group: UInt32, keys: Set<UInt64>)] = [:]
    /// Where what is set aside lies, for an `evict` frame that gives it up.
    private var places: [Location: (key: UInt64, place: Int)] = [:]

    init(_ part: Part, kind: ArchiveKind, tagHash: KeyHash) throws(StorageError) {
        self.part = part
        self.kind = kind
        self.tagHash = tagHash
        var secret = ByteReader(try RandomSource.bytes(16, for: "a check"))
        hash = KeyHash(k0: secret.uint64(), k1: secret.uint64())
    }

    /// What a frame's key is remembered by; 0: it is none of the part's.
    func key(of frame: LoggedFrame) -> UInt64 {
        guard kind != .log else { return key(ofMessageAt: frame.location) }
        return frame.key.withUnsafeBytes { (key) in
            let tag = UInt32(truncatingIfNeeded: tagHash(key))
            return part.contains(tag)
                ? UInt64(tag) << 32 | UInt64(max(1, UInt32(truncatingIfNeeded: hash(key)))) : 0
        }
    }

    private func key(ofMessageAt location: Location) -> UInt64 {
        // Odd factors lose nothing: no two places have the same.
        let key = location.raw &* 0x9E37_79B9_7F4A_7C15
        return part.contains(LogAccount.tag(of: key)) ? key : 0
    }

    /// The hash by which a key that is remembered belongs to a part.
    static func tag(of key: UInt64) -> UInt32 { UInt32(key >> 32) }

    /// What a frame says about the part.
    enum Concern {
        case none
        /// It does as long as its key is one of the part's.
        case ofKey
        /// It may, whatever part that is.
        case always
    }

    func concern(with frame: LoggedFrame) -> Concern {
        guard kind != .log, !frame.key.isEmpty, frame.removed.isEmpty else { return .always }
        return key(of: frame) == 0 ? .none : .ofKey
    }

    /// How many keys are remembered; what is set aside counts for the several of them that it takes the room of.
    var count: Int { last.count + LogAccount.asideWeight * places.count }
    private static let asideWeight = 4

    /// Forgets half of the part; `nil` where it has no halves. Returns the half that is to be looked at another time.
    mutating func halve() -> Part? {
        guard let other = part.halve() else { return nil }
        let part = part
        func isOther(_ key: UInt64) -> Bool { !part.contains(LogAccount.tag(of: key)) }
        last = last.filter { !isOther($0.key) }
        keys = keys.filter { !isOther($0.value) }
        aside = aside.filter { !isOther($0.key) }
        places = places.filter { !isOther($0.value.key) }
        actions = actions.mapValues { ($0.group, $0.keys.filter { !isOther($0) }) }
        return other
    }

    /// The last words; the account is over with that.
    mutating func takeLast() -> [UInt64: Word] {
        keys = [:]
        defer { last = [:] }
        return last
    }

    /// Takes the next frame into account; `isNew`: it was appended since the check began.
    mutating func note(_ frame: LoggedFrame, isNew: Bool) {
        guard let kind = frame.header.kind, kind.isMeant(in: self.kind, hasKey: !frame.key.isEmpty) else {
            return
        }
        if kind.namesRemoved {
            let group = kind == .evict ? frame.group : 0
            for place in frame.removed {
                if group == 0, let found = places[place] { drop(found.key, found.place) }
                guard let key = keys[place], let word = last[key], !word.isRemoved else { continue }
                if group != 0 { setAside(key, word, by: group) }
                remove(key, isNew: isNew)
            }
        }
        let word = Word(
            location: frame.location, valueBytes: UInt32(frame.header.valueBytes), isNew: isNew,
            isRemoved: false, sequence: frame.header.sequence)
        let key = key(of: frame)
        if kind == .message {
            if key != 0 { set(key, word) }
            dropMessages(frame, unlessSaid: oldestMessage)
            return forgetDropped()
        }
        guard key != 0 || frame.key.isEmpty else { return }
        switch kind {
        case .put, .move:
            supersede(key)
            set(key, word)
        // On disk there is none; whether the process that holds it lives, only the index knows.
        case .delete: remove(key, isNew: isNew)
        case .resident:
            supersede(key)
            remove(key, isNew: isNew)
        case .deleteAll: removeAll(isNew: isNew)
        case .kept: if frame.group != 0 { keep(key, word, by: frame.group) }
        case .restore: restore(frame.group, keepsOut: frame.keepsOut, isNew: isNew)
        case .deadline: if frame.group != 0, isPresent(key) { begin(frame.group) }
        case .evict:
            if self.kind == .log { dropMessages(frame, unlessSaid: frame.location) }
        case .message, .batch, .void: break
        }
    }

    /// What a frame of a log archive says of the oldest message that stayed.
    private mutating func dropMessages(_ frame: LoggedFrame, unlessSaid: Location) {
        let said = Location(raw: UInt64(bitPattern: frame.header.created))
        let oldest = said == .none ? unlessSaid : min(said, frame.location)
        oldestMessage = max(oldestMessage, oldest)
    }

    /// Of a log that drops about as many messages as it takes, those that are there are remembered, and not all that ever were.
    private mutating func forgetDropped() {
        guard last.count >= most else { return }
        last = last.filter { $0.value.location >= oldestMessage }
        most = max(most, 2 * last.count)
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
        (aside, actions, places) = ([:], [:], [:])
        keys = [:]
        guard isNew else { return last = [:] }
        for key in Array(last.keys) {
            last[key]?.isRemoved = true
            last[key]?.isNew = true
        }
    }

    private func isPresent(_ key: UInt64) -> Bool { last[key].map { !$0.isRemoved } ?? false }

    // MARK: Undo

    /// The place of an action; what another had there is given up.
    @discardableResult
    private mutating func begin(_ group: UInt32) -> Int {
        let place = IndexLayout.undoPlace(of: group)
        if let other = actions[place], other.group == group { return place }
        for key in actions[place]?.keys ?? [] { drop(key, place) }
        actions[place] = (group, [])
        return place
    }

    private mutating func setAside(
        _ key: UInt64, _ word: Word, by group: UInt32, isSuperseded: Bool = false
    ) {
        let place = begin(group)
        drop(key, place)
        aside[key, default: [:]][place] = Aside(word: word, isSuperseded: isSuperseded)
        actions[place]?.keys.insert(key)
        places[word.location] = (key, place)
    }

    /// A copy of what is set aside: where there is something later of its key it is superseded.
    private mutating func keep(_ key: UInt64, _ word: Word, by group: UInt32) {
        var isSuperseded = isPresent(key)
        for (place, other) in aside[key] ?? [:] where !other.isSuperseded {
            if other.word.sequence == word.sequence { drop(key, place) }
            if other.word.sequence < word.sequence { aside[key]?[place]?.isSuperseded = true }
            isSuperseded = isSuperseded || other.word.sequence > word.sequence
        }
        setAside(key, word, by: group, isSuperseded: isSuperseded)
    }

    private mutating func supersede(_ key: UInt64, butAt exempt: Int? = nil) {
        guard !aside.isEmpty else { return }
        for place in aside[key]?.keys.map({ $0 }) ?? [] where place != exempt {
            aside[key]?[place]?.isSuperseded = true
        }
    }

    /// Gives up what an action has of a key.
    private mutating func drop(_ key: UInt64, _ place: Int) {
        guard let gone = aside[key]?.removeValue(forKey: place) else { return }
        if aside[key]?.isEmpty ?? false { aside[key] = nil }
        actions[place]?.keys.remove(key)
        places[gone.word.location] = nil
    }

    private mutating func restore(_ group: UInt32, keepsOut: Bool, isNew: Bool) {
        let place = IndexLayout.undoPlace(of: group)
        guard let action = actions[place], action.group == group else { return }
        for key in action.keys {
            guard let coming = aside[key]?[place] else { continue }
            drop(key, place)
            if coming.isSuperseded, keepsOut || isPresent(key) { continue }
            if coming.isSuperseded { supersede(key) }
            guard !isPresent(key) else { continue }
            var back = coming.word
            back.isNew = isNew
            set(key, back)
        }
    }
}
