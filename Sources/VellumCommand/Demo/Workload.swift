/// Uses archives like caches: skewed look-ups, stores after misses, some updates and deletions. For one thread.
struct Workload {
    private static let tick = 0.005
    /// Per hundred operations on cities.
    private static let updates = 2
    private static let deletes = 2

    private let archives: [DemoArchive: Archive]
    private let cities: Archive
    private let data: DemoData
    private let cityZipf: Zipf
    private let sessionZipf: Zipf
    /// Positions in the data, most popular first.
    private let popularity: [Int]
    private var generator: SeededGenerator
    private var journal: DemoJournal
    private var memory: DemoMemory
    private var phase = DemoPhase.steady
    private var phaseStart = 0.0
    private var scanned = 0
    /// The disk limit of the cities at the start. The workload doesn't change a limit that a user has set since then.
    private let cityLimit: UInt64?
    private var isNarrow = false

    /// The store must have the demonstration's archives.
    init(_ store: Store, _ data: DemoData, seed: UInt64) throws {
        var archives: [DemoArchive: Archive] = [:]
        for kind in DemoArchive.ofWorkload { archives[kind] = try store.archive(named: kind.rawValue) }
        self.archives = archives
        cities = try store.archive(named: DemoArchive.cities.rawValue)
        cityLimit = try cities.configuration().diskLimit
        journal = DemoJournal(try store.archive(named: DemoArchive.journal.rawValue), data, seed: seed)
        memory = DemoMemory(
            try store.archive(named: DemoArchive.pages.rawValue), limit: DemoArchive.pageMemory)
        self.data = data
        cityZipf = Zipf(count: data.keys.count)
        sessionZipf = Zipf(count: DemoUser.sessions)
        generator = SeededGenerator(seed: seed)
        popularity = Array(data.keys.indices).shuffled(using: &generator)
    }

    /// Runs `rate` operations a second, more in some phases, until a signal or the end of standard input.
    mutating func run(rate: Int) throws(StorageError) {
        var start = MonotonicClock.seconds()
        var done = 0
        phaseStart = start
        while !Interruption.isRequested, !Self.isInputClosed(waiting: Self.tick) {
            let now = MonotonicClock.seconds()
            let isNew = try changePhase(now: now)
            let rate = rate * phase.haste
            // Don't catch up after a suspension.
            if isNew || Double(rate) * (now - start) > Double(done + rate) {
                start = now
                done = 0
            }
            while Double(done) < Double(rate) * (now - start) { done += try step() }
            try journal.report(now: now)
        }
        try widen()
    }

    // MARK: Phases

    private mutating func changePhase(now: Double) throws(StorageError) -> Bool {
        let isOver = phase.seconds.map { now - phaseStart >= $0 } ?? (scanned >= data.keys.count)
        guard isOver else { return false }
        if phase == .tight { try widen() }
        phase = phase.next
        phaseStart = now
        scanned = 0
        if phase == .tight { try narrow() }
        if phase != .tight || isNarrow { try journal.announce(phase) }
        return true
    }

    private mutating func narrow() throws(StorageError) {
        guard let cityLimit, cityLimit >= 3 else { return }
        isNarrow = try setCityLimit(cityLimit / 3, from: cityLimit)
    }

    private mutating func widen() throws(StorageError) {
        guard isNarrow, let cityLimit else { return }
        isNarrow = false
        try setCityLimit(cityLimit, from: cityLimit / 3)
    }

    /// Returns false, without a change, if another process has changed the limit.
    @discardableResult
    private func setCityLimit(_ disk: UInt64, from present: UInt64) throws(StorageError) -> Bool {
        let configuration = try cities.configuration()
        guard configuration.diskLimit == present else { return false }
        try cities.setLimits(disk: disk, memory: configuration.memoryLimit)
        return true
    }

    // MARK: Operations

    /// Performs one user operation. Returns how many archive operations the counters recorded for it.
    private mutating func step() throws(StorageError) -> Int {
        if phase == .scan, scanned < data.keys.count {
            scanned += 1
            return try lookUp(scanned - 1)
        }
        let place = popularity[cityZipf.draw(with: &generator)]
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<14: return try usePage(place)
        case 14..<22: return try useSession(sessionZipf.draw(with: &generator), place)
        case 22..<24: return try useThumbnail(place)
        default: return try useCity(place)
        }
    }

    private mutating func useCity(_ place: Int) throws(StorageError) -> Int {
        let kind = Int.random(in: 0..<100, using: &generator)
        if kind < Self.deletes {
            guard try cities.delete(data.keys[place]) else { return 0 }
            journal.note(.deleted, place)
            return 1
        }
        if kind < Self.deletes + Self.updates {
            journal.note(.renewed, place)
            return try record(place)
        }
        return try lookUp(place)
    }

    private mutating func lookUp(_ place: Int) throws(StorageError) -> Int {
        guard try cities.withAccess(data.keys[place], { $0.count }) == nil else {
            journal.note(.found, place)
            return 1
        }
        journal.note(.missed, place)
        return try 1 + record(place)
    }

    private func record(_ place: Int) throws(StorageError) -> Int {
        try put(data.values[place], data.keys[place], in: .cities, .cbor, data.attributes(of: place))
    }

    private mutating func usePage(_ place: Int) throws(StorageError) -> Int {
        let key = DemoPage.key(data, place)
        if try memory.access(key) { return 1 }
        return try 1 + put(Array(DemoPage.text(data, place).utf8), key, in: .pages, .text)
    }

    private mutating func useSession(_ session: Int, _ place: Int) throws(StorageError) -> Int {
        let key = DemoUser.key(session)
        guard let archive = archives[.sessions] else { return 0 }
        let exists = try archive.withAccess(key) { $0.count } != nil
        // One access in six stores the session again, with the visited keys and a new expiry time.
        if exists, Int.random(in: 0..<6, using: &generator) > 0 { return 1 }
        let seen = (0..<1 + place % 5).map { data.keys[(place + $0 * 7) % data.keys.count] }
        return try 1
            + put(
                DemoUser.value(session, seen: exists ? seen : []), key, in: .sessions, .cbor,
                DemoUser.attributes(session))
    }

    private mutating func useThumbnail(_ place: Int) throws(StorageError) -> Int {
        let key = DemoThumbnail.key(data, place)
        guard let archive = archives[.thumbnails] else { return 0 }
        guard try archive.withAccess(key, { $0.count }) == nil else { return 1 }
        return try 1 + put(DemoThumbnail.image(place), key, in: .thumbnails, .unknown)
    }

    private func put(
        _ value: [UInt8], _ key: String, in kind: DemoArchive, _ encoding: ValueEncoding,
        _ attributes: EntryAttributes = .none
    ) throws(StorageError) -> Int {
        do throws(StorageError) {
            try archives[kind]?.put(value, forKey: key, encoding: encoding, attributes: attributes)
            return 1
        } catch {
            // A resized archive may be too small for a value; others may fit.
            guard error.isAboutOneEntry else { throw error }
            return 0
        }
    }

    private static func isInputClosed(waiting seconds: Double) -> Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, Int32(seconds * 1000)) > 0 else { return false }
        var byte: UInt8 = 0
        return read(STDIN_FILENO, &byte, 1) <= 0
    }
}
