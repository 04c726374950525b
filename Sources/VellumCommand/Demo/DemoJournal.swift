/// The demonstration's log: a few messages a second about recent operations, and periodic figures. For one thread.
struct DemoJournal {
    enum Operation: Int, CaseIterable {
        case found, missed, renewed, deleted
    }

    private static let pause = 0.1...0.5
    private static let figuresInterval = 5.0

    private let log: Archive
    private let data: DemoData
    private var generator: SeededGenerator
    /// The last city of each operation since the last message about it.
    private var latest = [Int?](repeating: nil, count: Operation.allCases.count)
    private var counts = [Int](repeating: 0, count: Operation.allCases.count)
    private var next = 0.0
    private var nextFigures: Double?

    init(_ log: Archive, _ data: DemoData, seed: UInt64) {
        self.log = log
        self.data = data
        // A separate generator keeps the cities' operations independent of the log.
        generator = SeededGenerator(seed: ~seed)
    }

    mutating func note(_ operation: Operation, _ place: Int) {
        latest[operation.rawValue] = place
        counts[operation.rawValue] += 1
    }

    /// Writes the messages due at `now`, in seconds of the monotonic clock.
    mutating func report(now: Double) throws(StorageError) {
        if let due = nextFigures, now >= due {
            try append(figures)
            counts = counts.map { _ in 0 }
        }
        if nextFigures.map({ now >= $0 }) ?? true { nextFigures = now + Self.figuresInterval }
        let unreported = Operation.allCases.filter { latest[$0.rawValue] != nil }
        guard now >= next, let operation = unreported.randomElement(using: &generator),
            let place = latest[operation.rawValue]
        else { return }
        latest[operation.rawValue] = nil
        next = now + Double.random(in: Self.pause, using: &generator)
        try append(sentence(operation, place))
    }

    private var figures: String {
        let lookUps = counts[Operation.found.rawValue] + counts[Operation.missed.rawValue]
        let share = lookUps == 0 ? 0 : 100 * Double(counts[Operation.found.rawValue]) / Double(lookUps)
        return "health   \(Figures.count(lookUps, "look-up", "look-ups")) in \(Int(Self.figuresInterval)) s, "
            + "\(Figures.fixed(share, digits: 1)) % of them answered by the cache"
    }

    private mutating func sentence(_ operation: Operation, _ place: Int) -> String {
        let name = data.text("name", of: place) ?? data.keys[place]
        let country = data.text("countrycode", of: place) ?? "?"
        switch operation {
        case .found:
            let letters = name.prefix(Int.random(in: 3...5, using: &generator)).lowercased()
            let people = data.text("population", of: place) ?? "0"
            return "search   \"\(letters)\" finds \(name) (\(country)), \(people) people"
        case .missed:
            let bytes = Figures.count(data.values[place].count, "byte", "bytes")
            return "map      \(name) (\(country)) was not in the cache: read and recorded, \(bytes)"
        case .renewed:
            let zone = data.text("timezone", of: place) ?? "UTC"
            return "weather  new forecast for \(name) (\(country)), \(zone)"
        case .deleted: return "search   \(name) (\(country)) was withdrawn by its source: deleted"
        }
    }

    func announce(_ phase: DemoPhase) throws(StorageError) {
        if let text = phase.announcement { try append("phase    \(text)") }
    }

    private func append(_ text: String) throws(StorageError) {
        do throws(StorageError) {
            try log.append(Array(text.utf8))
        } catch {
            // A resized log may be too small for a message; the next may fit.
            guard error.isAboutOneEntry else { throw error }
        }
    }
}
