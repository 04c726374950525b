import Foundation
import Papyrus
import PapyrusGoods
import StorageEngine
import TestSupport
import Testing

@Suite(.serialized) struct MergeTests {
    private let place = Place()
    private var store: PapyrusStore { place.store }

    private func cars() async -> [Car] { await store.all(Car.self) }

    @Test("a merge replaces all objects of the type") func merging() async {
        await store.save(objects: [Car(id: "a"), Car(id: "b")])
        await store.save(Model(id: "b"))
        await store.merge(with: [Car(id: "c"), Car(id: "a", model: "new")])
        #expect(await cars() == [Car(id: "a", model: "new"), Car(id: "c")], "a stays first")
        #expect(await store.all(Model.self).count == 1, "other types stay")
        await store.merge(with: [Car]())
        #expect(await cars().isEmpty)
    }

    @Test("a merge into a filter keeps other objects") func mergingIntoFilter() async {
        await store.save(
            objects: [
                Car(id: "a", manufacturer: "Tesla"), Car(id: "b", manufacturer: "Tesla"),
                Car(id: "c", manufacturer: "Ford"), Car(id: "d", manufacturer: "Ford"),
            ])
        await store.merge(
            objects: [Car(id: "b", model: "new"), Car(id: "d", model: "new"), Car(id: "e")],
            into: { $0.manufacturer == "Tesla" })
        #expect(await cars().map(\.id) == ["b", "c", "d", "e"])
        #expect(await cars().map(\.model) == ["new", "", "new", ""])
        await store.merge(objects: [Car](), into: { $0.manufacturer == "Ford" })
        #expect(await cars().map(\.id) == ["b", "d", "e"])
    }

    private struct Shape: Papyrus {
        static let papyrusTypeName = "merged shape"
        let id: Int
    }

    private struct OtherShape: Papyrus {
        static let papyrusTypeName = "merged shape"
        let id: Int
        var sides: Int
    }

    @Test("a merge into a filter keeps unreadable objects") func unreadableObjects() async {
        store.logLevel = .off
        await store.save(Shape(id: 1))
        await store.save(OtherShape(id: 2, sides: 4))
        await store.merge(objects: [OtherShape(id: 3, sides: 3)], into: { _ in true })
        #expect(await store.all(Shape.self).map(\.id) == [1, 3])
        await store.merge(with: [OtherShape(id: 3, sides: 3)])
        #expect(await store.all(Shape.self).map(\.id) == [3])
    }

    @Test("merged objects are stored with their relations") func mergingRelations() async throws {
        let address = Address(id: UUID(), lineOne: "x")
        func maker(_ id: String, _ models: [String]) -> Maker {
            Maker(
                id: id, models: models.map { Model(id: $0) }, address: address, office: nil, former: nil)
        }
        await store.merge(with: [maker("a", ["1"]), maker("b", ["2"])])
        await store.merge(with: [maker("b", ["3"])])
        #expect(await store.all(Maker.self) == [maker("b", ["3"])])
        #expect(await store.all(Model.self).map(\.id) == ["1", "2", "3"])
    }

    @Test("objects saved during a merge stay", arguments: [true, false])
    func savesDuringMerge(isFiltered: Bool) async throws {
        await store.save(objects: (0..<20).map { Car(id: "c\($0)", manufacturer: "Ford") })
        let core = store
        let entered = Guarded(0)
        async let merged: Void = core.merge(
            objects: [Car(id: "new")],
            into: {
                entered.withLock { $0 += 1 }
                usleep(5_000)
                return isFiltered ? $0.manufacturer == "Ford" : true
            })
        while entered.withLock({ $0 }) == 0 { await Task.yield() }
        await store.save(Car(id: "c19", manufacturer: "Tesla"))
        await store.save(Car(id: "other", manufacturer: "Ford"))
        await merged
        #expect(await cars().map(\.id).sorted() == ["c19", "new", "other"])
        #expect(entered.withLock { $0 } == 20)
    }

    /// Starts with an empty collection, in which no entry distinguishes two merges.
    @Test("concurrent merges are serialized") func concurrentMerges() async {
        let store = store
        for round in 0..<30 {
            await withTaskGroup(of: Void.self) { group in
                for set in 0..<4 {
                    group.addTask { await store.merge(with: [Car(id: "\(round) \(set)", model: "\(set)")]) }
                }
            }
            #expect(await cars().count == 1)
            if round % 2 == 0 { await store.merge(with: [Car]()) }
        }
    }

    @Test("a filter may save objects") func savingInFilter() async {
        let store = store
        await store.save(objects: [Car(id: "a"), Car(id: "b")])
        await store.merge(objects: [Car(id: "c")]) { car in
            Task { await store.save(Model(id: car.id)) }
            return car.id == "a"
        }
        #expect(await cars().map(\.id) == ["b", "c"])
        let again = await store.objects(type: Car.self)
            .filter { car in
                Task { await store.save(Car(id: "late")) }
                return car.id == "b"
            }
            .execute()
        #expect(again.map(\.id) == ["b"])
    }

    // MARK: Processes

    private func worker(_ arguments: String...) throws -> ChildProcess {
        try ChildProcess(
            ChildProcess.program(named: "PapyrusWorker"), [arguments[0], place.url.path] + arguments[1...])
    }

    /// Kills the merging process at random moments, while another process and this one read.
    private func kill(times: Int, count: Int, seed: SeededGenerator) async throws -> Int {
        var generator = seed
        let looker = try worker("look", "\(count)", "\(times / 4 + 2)")
        var sets: Set<Int> = []
        var longest = 0.25
        for time in 0..<times {
            let begun = Date()
            let merger = try worker("merge", "\(count)", "\(time * 1_000)")
            // The first is killed after it has merged a set, the others at any moment.
            let end = begun.addingTimeInterval(
                time == 0 ? 60 : Double.random(in: 0.002...longest, using: &generator))
            repeat {
                let pieces = try await store.throwing.execute(store.objects(type: Piece.self))
                let complaint = Piece.complaint(about: pieces, count: count)
                #expect(complaint == nil)
                if let set = pieces.first?.set { sets.insert(set) }
            } while Date() < end && (time > 0 || sets.isEmpty)
            if time == 0 { longest = max(longest, 1.5 * Date().timeIntervalSince(begun)) }
            merger.signal(SIGKILL)
            merger.waitForEnd()
        }
        let complaint = Piece.complaint(about: await store.all(Piece.self), count: count)
        #expect(complaint == nil)
        looker.waitForEnd()
        #expect(looker.code == 0, "the other process found a mixed set")
        return sets.count
    }

    @Test("a killed merge is complete or without effect") func killedMerges() async throws {
        let seed = SeededGenerator.announced("merges that are killed")
        let sets = try await kill(times: 12, count: 1_000, seed: seed)
        #expect(sets > 0)
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak")) func killedMergesSoak() async throws {
        let times = max(200, Int(Soak.seconds))
        let sets = try await kill(times: times, count: 10_000, seed: SeededGenerator(seed: Soak.seed))
        #expect(sets > 0)
        var figures = Figures("Papyrus merges of 10,000")
        figures.add("kills", times)
        figures.add("sets seen", sets)
        figures.add("mixtures", 0)
        figures.report()
    }

    @Test("merges of two processes are not mixed") func processesMerge() async throws {
        let mergers = try [worker("merge", "300", "0"), worker("merge", "300", "100001")]
        var looks = 0
        let isEnough = try await eventually {
            let pieces = await store.all(Piece.self)
            let complaint = Piece.complaint(about: pieces, count: 300)
            #expect(complaint == nil)
            if !pieces.isEmpty { looks += 1 }
            return looks >= 60
        }
        #expect(isEnough)
        for merger in mergers {
            merger.signal(SIGKILL)
            merger.waitForEnd()
        }
    }

    /// With a file size limit of about a megabyte.
    @Test("objects reported as saved on a full disk are stored") func fullDisk() throws {
        let program = try ChildProcess.program(named: "PapyrusWorker")
        let outcome = try ChildProcess.run(
            "/bin/sh", ["-c", "ulimit -f 4096; exec \"$0\" fill \"$1\" 60000", program, place.url.path])
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(outcome.text.contains("saved, then: "), "\(outcome.text)")
    }
}
