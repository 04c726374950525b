struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measures a store on this machine, in about ten seconds.",
        discussion: """
            Uses a temporary store in the temporary folder (TMPDIR), or with --in on the file system of a folder. One \
            thread, values of --value bytes, keys of 12 bytes. Columns: work, count, seconds, operations per second; --json \
            prints one array.

            Example: vellum bench --in /srv
            """)

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("The folder for the store (default: TMPDIR).", valueName: "folder"),
        completion: .directory)
    var folder: String?

    @Option(help: ArgumentHelp("Bytes of a value (default: 200B).", valueName: "size"))
    var value: ByteCount?

    @Option(
        help: ArgumentHelp("Approximate duration (default: 10s).", valueName: "duration"),
        transform: Interval.parse)
    var time: Duration?

    @Flag(help: "Print one JSON array.")
    var json = false

    private static let columns = [
        Column("work", title: "WORK"), Column("count", title: "COUNT"), Column("seconds", title: "SECONDS"),
        Column("rate", title: "PER SECOND"),
    ]

    mutating func validate() throws {
        if let value, value.bytes > 1 << 20 { throw ValidationError("--value must be 1 MiB at most") }
        if let time, time < .milliseconds(100) || time > .seconds(600) {
            throw ValidationError("--time must be 100ms to 10m")
        }
    }

    func run() throws {
        Interruption.collect()
        let place = try TemporaryFolder(in: folder)
        defer { place.remove() }
        let store = try Store.open(at: place.path + "/store")
        defer { store.close() }
        var printer = RowPrinter(Self.columns, json: json ? .jsonArray : nil)
        let measurement = try Measurement(
            store, valueBytes: Int(value?.bytes ?? 200), seconds: (time ?? .seconds(10)) / .seconds(1))
        for result in try measurement.run() {
            try printer.print([
                .text(result.work), .count(UInt64(result.count)), .decimal(result.seconds),
                .rate(Double(result.count) / max(result.seconds, 1e-9)),
            ])
        }
        try printer.end()
        try Interruption.check()
    }
}

/// Runs one kind of work after another, each for its share of the time. For one thread.
private struct Measurement {
    struct Result {
        let work: String
        let count: Int
        let seconds: Double
    }

    private static let mostEntries = 1_000_000

    private let store: Store
    private let archive: Archive
    private let value: [UInt8]
    private let share: Double

    init(_ store: Store, valueBytes: Int, seconds: Double) throws(StorageError) {
        self.store = store
        archive = try store.archive(
            named: "Bench", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        value = Array(repeating: UInt8(ascii: "x"), count: valueBytes)
        share = seconds / 6
    }

    func run() throws -> [Result] {
        let puts = try measure("put, new keys", most: Self.mostEntries) { number throws(StorageError) in
            try archive.put(value, forKey: Self.key(number))
        }
        let entries = puts.count
        guard entries > 0 else { return [puts] }
        let durable = try store.archive(
            named: "Durable",
            orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil, durability: .full))
        var random = SeededGenerator(seed: 1)
        func randomKey() -> String { Self.key(Int(random.next() >> 1) % entries) }
        return [
            puts,
            try measure("put, existing keys") { _ throws(StorageError) in
                try archive.put(value, forKey: randomKey())
            },
            try measure("access, random keys") { _ throws(StorageError) in
                _ = try archive.withAccess(randomKey()) { $0.count }
            },
            try measure("put, synced") { number throws(StorageError) in
                try durable.put(value, forKey: Self.key(number))
            },
            try measure("list entries, per entry", each: entries) { _ throws(StorageError) in
                _ = try archive.entries().count
            },
            try measure("verify all, per entry", each: entries) { _ throws(StorageError) in
                _ = try archive.check()
            },
        ]
    }

    private static func key(_ number: Int) -> String {
        let digits = String(number)
        return "key" + String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    }

    private func measure(
        _ work: String, most: Int = .max, each factor: Int = 1, _ body: (Int) throws(StorageError) -> Void
    ) throws(StorageError) -> Result {
        let start = MonotonicClock.seconds()
        var now = start
        var count = 0
        while now - start < share, count < most, !Interruption.isRequested {
            let end = min(most, count + (count < 64 ? 1 : 64))
            while count < end {
                try body(count)
                count += 1
            }
            now = MonotonicClock.seconds()
        }
        return Result(work: work, count: count * factor, seconds: now - start)
    }
}
