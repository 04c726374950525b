import Foundation
import StorageEngine
import TestSupport
import Testing

/// R6: uses, rebuilds and repairs a store with all kinds of damage. Nothing traps or hangs, no value is wrong, a
/// flipped bit loses at most one entry, and other damage loses the damaged ones only.
@Suite(.oneAtATime) struct MutationTests {
    /// A change of one file of a store.
    enum Mutation: Equatable {
        case flip(file: String, bit: Int)
        case truncate(file: String, bytes: Int)
        case randomBytes(file: String)
        case foreign(file: String)
        case empty(file: String)
        case remove(file: String)
        case duplicate(file: String, name: String)

        var file: String {
            switch self {
            case .flip(let file, _), .truncate(let file, _), .randomBytes(let file), .foreign(let file),
                .empty(let file), .remove(let file), .duplicate(let file, _):
                file
            }
        }
    }

    static let marker = "vellum-store"

    struct Counts {
        var mutations = 0
        var flips = 0
        var lost = 0
        var mostLostByAFlip = 0
        var revived = 0
        var refused = 0
    }

    enum Step: CaseIterable { case observe, use, rebuild }

    // MARK: Mutations

    /// All bits and lengths of small files, the bits of headers, and whole files.
    static func exhaustive(_ fixture: DamageFixture) -> [Mutation] {
        var all: [Mutation] = []
        // Empty files are locks, and hold nothing that could be damaged.
        var small = fixture.files.filter { $0.value.count < 1000 && !$0.value.isEmpty }
        small[marker] = fixture.marker
        for (file, data) in small.sorted(by: { $0.key < $1.key }) {
            all += (0..<data.count * 8).map { .flip(file: file, bit: $0) }
            all += (0..<data.count).map { .truncate(file: file, bytes: $0) }
        }
        let segments = fixture.segments
        for segment in segments {
            all += (0..<(64 + 56) * 8).map { .flip(file: segment, bit: $0) }
            all += [.duplicate(file: segment, name: "000000f0.segment")]
        }
        all += [
            .duplicate(file: segments[0], name: segments[1]),
            .duplicate(file: segments[1], name: segments[0]),
        ]
        all += [
            .duplicate(file: "index", name: "index.new"),
            .duplicate(file: "descriptor", name: "descriptor.new"),
        ]
        for file in fixture.files.keys.sorted() + [marker] {
            all += [.randomBytes(file: file), .foreign(file: file), .empty(file: file), .remove(file: file)]
        }
        return all
    }

    /// Any bit or length, mostly of the log.
    static func any(_ fixture: DamageFixture, _ random: inout SeededGenerator) -> Mutation {
        let segments = fixture.segments
        let draw = Int.random(in: 0..<100, using: &random)
        var file = segments[Int.random(in: 0..<segments.count, using: &random)]
        if draw % 10 >= 8 { file = draw % 20 < 15 ? "index" : "descriptor" }
        let data = fixture.files[file] ?? Data()
        // The blank rest of a segment is hit sometimes.
        let written = file.hasSuffix(".segment") ? (data.lastIndex { $0 != 0 } ?? 0) + 32 : data.count
        let reach = max(1, min(draw < 90 ? written : data.count, data.count))
        if draw < 80 { return .flip(file: file, bit: Int.random(in: 0..<reach * 8, using: &random)) }
        if draw < 98 { return .truncate(file: file, bytes: Int.random(in: 0..<reach, using: &random)) }
        return .randomBytes(file: file)
    }

    // MARK: Runs

    private func apply(
        _ mutation: Mutation, _ fixture: DamageFixture, _ other: DamageFixture, _ folder: TemporaryFolder,
        _ random: inout SeededGenerator
    ) throws {
        func path(_ file: String) -> String {
            file == MutationTests.marker ? folder.store + "/" + file : folder.archivePath("A", file)
        }
        let target = path(mutation.file)
        let original =
            mutation.file == MutationTests.marker ? fixture.marker : fixture.files[mutation.file] ?? Data()
        switch mutation {
        // In place: a new file would invalidate the index.
        case .flip(_, let bit): try flip(target, at: bit / 8, 1 << UInt8(bit % 8))
        case .truncate(_, let bytes): #expect(truncate(target, off_t(bytes)) == 0)
        case .randomBytes:
            var bytes = Data(capacity: original.count + 8)
            while bytes.count < original.count {
                withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) }
            }
            try overwrite(target, at: 0, with: bytes.prefix(original.count))
        case .foreign:
            let foreign =
                mutation.file == MutationTests.marker ? other.marker : other.files[mutation.file] ?? Data()
            try foreign.write(to: URL(fileURLWithPath: target))
        case .empty: try Data().write(to: URL(fileURLWithPath: target))
        case .remove: try FileManager.default.removeItem(atPath: target)
        case .duplicate(_, let name): try original.write(to: URL(fileURLWithPath: path(name)))
        }
    }

    /// Compares an open archive with the fixture. Unreadable entries count as lost.
    private func look(
        _ archive: Archive, _ fixture: DamageFixture, stored: [String: [UInt8]], _ what: String
    ) -> (lost: Set<String>, revived: Int) {
        var lost: Set<String> = []
        var revived = 0
        for key in fixture.versions.keys {
            let found = (try? archive.peek(key)) ?? nil
            if let value = stored[key] {
                #expect(found == value, "\(what): \(key), stored after the damage")
                continue
            }
            if let found { #expect(fixture.knows(key, found), "\(what): \(key) has a value it never had") }
            if let version = fixture.live[key] {
                if found != DamageFixture.value(key, version) { lost.insert(key) }
            } else if found != nil {
                revived += 1
            }
        }
        return (lost, revived)
    }

    /// Observes, uses, rebuilds and repairs, in random order.
    private func live(
        _ mutation: Mutation, _ fixture: DamageFixture, _ folder: TemporaryFolder,
        _ random: inout SeededGenerator,
        _ figures: inout Counts
    ) throws {
        let what = "\(mutation)"
        var stored: [String: [UInt8]] = [:]
        var bearable = bearableLoss(mutation, fixture)
        if case .flip = mutation { figures.flips += 1 }
        func judge(_ archive: Archive, _ step: String) {
            let (lost, revived) = look(archive, fixture, stored: stored, "\(step) after \(what)")
            figures.revived = max(figures.revived, revived)
            // With a foreign descriptor an observer finds no segments; nothing is lost.
            if step == "look", mutation == .foreign(file: "descriptor") { return }
            if case .flip = mutation {
                figures.mostLostByAFlip = max(figures.mostLostByAFlip, lost.count)
                #expect(lost.count <= (bearable.isEmpty ? 0 : 1), "\(step) after \(what): lost \(lost)")
            } else {
                #expect(
                    lost.isSubset(of: bearable),
                    "\(step) after \(what): lost \(lost.subtracting(bearable).prefix(5))")
            }
            if step == "repair" { figures.lost += lost.count }
        }
        func observe() throws {
            let archive = try folder.archive(mode: .readOnly)
            defer { archive.close() }
            let list = try archive.entries()
            for index in list.indices { _ = try? list.withValue(at: index) { $0.count } }
            judge(archive, "look")
            try compareChecks(archive, "look after \(what)")
        }
        func use() throws {
            let archive = try folder.archive()
            defer { archive.close() }
            for number in 100..<120 { _ = try? archive.access("key \(number)") }
            // A refused put stores nothing; an accepted one stays.
            for key in ["key 115", "key 3"] {
                let value = Array("new \(key)".utf8)
                try archive.put(value, forKey: key)
                stored[key] = value
                bearable.remove(key)
            }
            _ = try archive.check()
            judge(archive, "use")
        }
        func rebuild() throws {
            try? folder.removeIndex("A")
            let archive = try folder.archive()
            defer { archive.close() }
            judge(archive, "rebuild")
            #expect(try archive.invariantViolations() == [], "\(what)")
        }
        let steps = Step.allCases.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
        for step in steps {
            do {
                switch step {
                case .observe: try observe()
                case .use: try use()
                case .rebuild: try rebuild()
                }
            } catch is StorageError {
                figures.refused += 1
            }
        }
        if mutation.file == MutationTests.marker {
            try fixture.marker.write(to: URL(fileURLWithPath: folder.store + "/" + MutationTests.marker))
        }
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        let report = try store.repair(archiveNamed: "A")
        let archive = try store.archive(named: "A")
        judge(archive, "repair")
        let check = try archive.check()
        #expect(check.clean && check.entries == report.entries, "\(what): \(check.problems)")
    }

    /// A check in parts equals a check in one pass.
    private func compareChecks(_ archive: Archive, _ what: String) throws {
        let whole = try archive.check()
        let parted = try archive.check(most: 5)
        #expect(
            (whole.entries, whole.valueBytes, whole.damaged) == (
                parted.entries, parted.valueBytes, parted.damaged
            ),
            "\(what): \(whole.problems) \(parted.problems)")
        #expect(Set(whole.problems) == Set(parted.problems), "\(what)")
    }

    /// Entries that may be lost: those in a damaged segment.
    private func bearableLoss(_ mutation: Mutation, _ fixture: DamageFixture) -> Set<String> {
        if case .duplicate(_, let name) = mutation { return fixture.keysOfSegment[name] ?? [] }
        return fixture.keysOfSegment[mutation.file] ?? []
    }

    private func run(
        seed: UInt64, shouldContinue: (Int) -> Bool, _ next: (Int, inout SeededGenerator) -> Mutation?
    )
        throws -> Counts
    {
        let fixture = try MutationTests.fixture.get()
        let other = try MutationTests.other.get()
        let folder = try TemporaryFolder(inMemory: true)
        var random = SeededGenerator(seed: seed)
        var figures = Counts()
        while shouldContinue(figures.mutations), let mutation = next(figures.mutations, &random) {
            try fixture.restore(in: folder)
            try apply(mutation, fixture, other, folder, &random)
            try live(mutation, fixture, folder, &random, &figures)
            figures.mutations += 1
        }
        return figures
    }

    private static let fixture = Result { try DamageFixture() }
    private static let other = Result { try DamageFixture() }

    // MARK: Tests

    @Test("the fixture has entries in both segments") func fixture() throws {
        let fixture = try MutationTests.fixture.get()
        #expect(fixture.segments.count == 2)
        #expect(fixture.live.count > 100 && fixture.live.count < fixture.versions.count - 50)
        #expect(fixture.keysOfSegment.values.allSatisfy { $0.count > 20 })
        #expect(fixture.keysOfSegment.values.reduce(0) { $0 + $1.count } == fixture.live.count)
    }

    /// Whole files, and some of the bits and lengths of the soak.
    @Test("no change of a whole file or of a bit returns wrong values") func wholeFilesAndBitsOfSmallOnes()
        throws
    {
        let all = MutationTests.exhaustive(try MutationTests.fixture.get())
        let chosen = all.enumerated().filter { index, mutation in
            switch mutation {
            case .flip: index % 23 == 0
            case .truncate: index % 5 == 0
            default: true
            }
        }.map(\.element)
        let figures = try run(seed: 5, shouldContinue: { $0 < chosen.count }) { index, _ in chosen[index] }
        #expect(figures.mutations == chosen.count && chosen.count > 100)
    }

    @Test("no random change of a bit or a length returns wrong values", arguments: [UInt64(1), 2])
    func anyBitOrLength(seed: UInt64) throws {
        let fixture = try MutationTests.fixture.get()
        let figures = try run(seed: seed, shouldContinue: { $0 < 75 }) { _, random in
            MutationTests.any(fixture, &random)
        }
        #expect(figures.mostLostByAFlip == 1 && figures.lost > 0, "seed \(seed): nothing was damaged")
    }

    /// `VELLUM_SOAK_MUTATIONS` asks for a number of copies instead of a time.
    @Test(.enabled(if: Soak.seconds > 0, "runs for VELLUM_SOAK_SECONDS seconds"))
    func mutationsSoak() throws {
        let seed = Soak.seed
        let fixture = try MutationTests.fixture.get()
        let all = MutationTests.exhaustive(fixture)
        let wanted = ProcessInfo.processInfo.environment["VELLUM_SOAK_MUTATIONS"].flatMap(Int.init)
        let end = Soak.end(share: 0.25)
        let figures = try run(seed: seed, shouldContinue: { _ in true }) {
            index, random in
            if let wanted, index >= wanted { return nil }
            if wanted == nil, Date() >= end { return nil }
            return index < all.count ? all[index] : MutationTests.any(fixture, &random)
        }
        Figures(
            "R6 damaged copies",
            [
                "copies": figures.mutations, "of them with one flipped bit": figures.flips,
                "most entries lost by a flip": figures.mostLostByAFlip, "refused": figures.refused,
                "seed": "\(seed)",
            ]
        ).report()
    }
}
