/// A store with a workload in a second process, until ``end()``. For one thread.
final class DemoSession {
    let path: String
    private let archives: [Archive]
    private let before: [ArchiveStatus]
    private let start: Double
    private let workload: WorkloadProcess
    private let temporary: TemporaryFolder?

    /// `store`: a folder; nil: a temporary one, which the workload's process removes at its end unless `keeps`.
    init(store: String?, keeps: Bool, rate: Int, seed: UInt64, isSilent: Bool) throws {
        let dataPath = try DemoFile.path()
        let data = try DemoData(path: dataPath)
        let made = store == nil ? try TemporaryFolder("vellum-demo") : nil
        path = made?.path ?? store ?? ""
        temporary = keeps ? nil : made
        do {
            try Self.fill(path, with: data)
            let store = try Store.open(at: path, mode: .readOnly, createIfMissing: false)
            archives = try DemoArchive.ofWorkload.map { try store.archive(named: $0.rawValue) }
            before = try archives.map { try $0.status() }
            start = MonotonicClock.seconds()
            workload = try WorkloadProcess(
                store: path, dataPath: dataPath, rate: rate, seed: seed, removesStore: temporary != nil,
                isSilent: isSilent)
        } catch {
            made?.remove()
            throw error
        }
        if made != nil, keeps { Console.say("the store is \(path)") }
    }

    func figures() throws -> DemoFigures {
        DemoFigures(
            from: before, to: try archives.map { try $0.status() }, seconds: MonotonicClock.seconds() - start)
    }

    /// Waits until the time is over or a signal arrives. Reports progress every second.
    func wait(seconds: Double) throws {
        var nextReport = 1.0
        while !Interruption.isRequested {
            let elapsed = MonotonicClock.seconds() - start
            let left = seconds - elapsed
            guard left > 0 else { return }
            if workload.hasEnded() {
                throw CommandFailure("the workload ended too early", status: .storeFailure)
            }
            if elapsed >= nextReport {
                nextReport = elapsed.rounded(.down) + 1
                Console.say(try figures().progress)
            }
            poll(nil, 0, Int32(min(left, nextReport - elapsed, 0.5) * 1000) + 1)
        }
    }

    func end() {
        workload.end()
        // The workload's process may have been killed before it removed the folder.
        temporary?.remove()
    }

    private static func fill(_ path: String, with data: DemoData) throws {
        let store = try Store.open(at: path, options: StoreOptions(processName: "vellum demo"))
        defer { store.close() }
        try DemoArchive.requireFreeNames(in: store, data)
        let cities = try DemoArchive.cities.open(in: store, data)
        try DemoCountries.record(data, in: try DemoArchive.countries.open(in: store, data))
        let log = try DemoArchive.journal.open(in: store, data)
        for place in data.keys.indices {
            try cities.put(
                data.values[place], forKey: data.keys[place], encoding: .cbor,
                attributes: data.attributes(of: place))
        }
        try fillOthers(store, data)
        let total = Figures.amount(data.keys.count, bytes: UInt64(data.bytes))
        Console.say("recorded \(total); the limit of City holds half of them")
        try log.append(Array("demo     \(total) recorded; the limit holds half of them".utf8))
    }

    private static func fillOthers(_ store: Store, _ data: DemoData) throws {
        let pages = try DemoArchive.pages.open(in: store, data)
        let sessions = try DemoArchive.sessions.open(in: store, data)
        let thumbnails = try DemoArchive.thumbnails.open(in: store, data)
        for place in stride(from: 0, to: data.keys.count, by: 31) {
            try pages.put(
                Array(DemoPage.text(data, place).utf8), forKey: DemoPage.key(data, place), encoding: .text)
        }
        for session in stride(from: 0, to: DemoUser.sessions, by: 5) {
            try sessions.put(
                DemoUser.value(session, seen: []), forKey: DemoUser.key(session), encoding: .cbor,
                attributes: DemoUser.attributes(session))
        }
        for place in stride(from: 0, to: data.keys.count, by: 103) {
            try thumbnails.put(DemoThumbnail.image(place), forKey: DemoThumbnail.key(data, place))
        }
    }
}
