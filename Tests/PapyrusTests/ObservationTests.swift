import Foundation
import Papyrus
import PapyrusGoods
import Synchronization
import TestSupport
import Testing

@Suite(.serialized) struct ObservationTests {
    private let place = Place()
    private var store: PapyrusStore { place.store }

    /// Collects a stream's values until its task is cancelled.
    private func follow<Value: Sendable>(
        _ stream: AsyncThrowingStream<Value, any Error>, into found: Found<Value>
    ) -> Task<(any Error)?, Never> {
        let stream = Carrier(value: stream)
        return Task {
            do {
                for try await value in stream.value { found.add(value) }
                return nil
            } catch {
                return error
            }
        }
    }

    @discardableResult
    private func end(_ task: Task<(any Error)?, Never>) async -> (any Error)? {
        task.cancel()
        return await task.value
    }

    private struct Carrier<Value>: @unchecked Sendable { let value: Value }

    @Test("a stream starts with the present objects and follows changes") func streams() async throws {
        let store = store
        await store.save(Car(id: "a"))
        let found = Found<[Car]>()
        let task = follow(store.objects(type: Car.self).filter { $0.model != "x" }.stream(), into: found)
        #expect(try await eventually { found.all.last?.map(\.id) == ["a"] })
        await store.save(Car(id: "b"))
        #expect(try await eventually { found.all.last?.map(\.id) == ["a", "b"] })
        await store.save(Car(id: "b", model: "new"))
        #expect(try await eventually { found.all.last?.last?.model == "new" })
        await store.delete(id: "a", of: Car.self)
        #expect(try await eventually { found.all.last?.map(\.id) == ["b"] })
        await store.merge(with: [Car(id: "c"), Car(id: "d")])
        #expect(try await eventually { found.all.last?.map(\.id) == ["c", "d"] })
        store.reset()
        #expect(try await eventually { found.all.last?.isEmpty == true })
        #expect(found.all.count == 6)
        #expect(await end(task) == nil)
    }

    /// The published library returns two values if an object is saved between the creation of a stream and its loop.
    @Test("an object saved after a stream or publisher is created is received", arguments: [true, false])
    func updatesOnSaving(storeIsThere: Bool) async throws {
        let store = store
        if storeIsThere { await store.save(Model(id: "another type's")) }
        let stream = store.objects(type: Car.self).stream()
        #expect(
            storeIsThere || !FileManager.default.fileExists(atPath: place.url.path),
            "observing creates no store")
        await store.save(Car(id: "a"))
        let found = Found<[Car]>()
        let task = follow(stream, into: found)
        #expect(try await eventually { found.all.count >= 2 })
        await store.save(Car(id: "b"))
        #expect(try await eventually { found.all.last?.count == 2 })
        #expect(found.all == [[], [Car(id: "a")], [Car(id: "a"), Car(id: "b")]])
        #expect(await end(task) == nil)
    }

    @Test("an object's stream starts when it is created") func objectStreams() async throws {
        let store = store
        let none = store.object(id: "a", of: Car.self).stream()
        await store.save(Car(id: "a"))
        let stream = store.object(id: "a", of: Car.self).stream()
        await store.save(Car(id: "a", model: "new"))
        let found = Found<Car>()
        let task = follow(stream, into: found)
        #expect(try await eventually { found.all == [Car(id: "a"), Car(id: "a", model: "new")] })
        await end(task)
        let error = await follow(none, into: Found<Car>()).value as? PapyrusStore.QueryError
        #expect(error?.isNotFound == true)
    }

    /// Streams that start between the same two changes share a snapshot.
    @Test("each stream starts with the objects at its creation") func sharedSnapshots() async throws {
        let store = store
        var streams: [AsyncThrowingStream<[Car], any Error>] = []
        for number in 0..<5 {
            for _ in 0..<5 { streams.append(store.objects(type: Car.self).stream()) }
            await store.save(Car(id: "\(number)"))
        }
        for (number, stream) in streams.enumerated() {
            let first = Found<[Car]>()
            let task = follow(stream, into: first)
            #expect(try await eventually { !first.all.isEmpty })
            #expect(first.all.first?.count == number / 5)
            await end(task)
        }
    }

    @Test("unrelated changes give no value") func unrelatedChanges() async throws {
        let store = store
        let found = Found<[Car]>()
        let task = follow(store.objects(type: Car.self).filter { $0.model == "x" }.stream(), into: found)
        #expect(try await eventually { found.all.count == 1 })
        await store.save(Model(id: "a"))
        await store.save(Car(id: "a"))
        await store.save(Car(id: "b", model: "x"))
        #expect(try await eventually { found.all.count > 1 })
        #expect(found.all == [[], [Car(id: "b", model: "x")]])
        await end(task)
    }

    @Test("an object's stream ends with its deletion") func deletedObject() async throws {
        let store = store
        let none = await queryError {
            for try await _ in store.object(id: "a", of: Car.self).stream() {}
        }
        #expect(none?.isNotFound == true)
        await store.save(Car(id: "a"))
        let found = Found<Car>()
        let task = follow(store.object(id: "a", of: Car.self).stream(), into: found)
        #expect(try await eventually { found.all.count == 1 })
        await store.save(Car(id: "b"))
        await store.save(Car(id: "a", model: "new"))
        #expect(try await eventually { found.all.count == 2 })
        await store.delete(id: "a", of: Car.self)
        let error = await task.value as? PapyrusStore.QueryError
        #expect(error?.isNotFound == true)
        #expect(found.all == [Car(id: "a"), Car(id: "a", model: "new")])
    }

    @Test("a change of a child gives a new value of its parent") func changedChildren() async throws {
        let store = store
        let address = Address(id: UUID(), lineOne: "x")
        let maker = Maker(id: "t", models: [Model(id: "s")], address: address, office: nil, former: nil)
        await store.save(maker)
        let (one, all) = (Found<Maker>(), Found<[Maker]>())
        let tasks = [
            follow(store.object(id: "t", of: Maker.self).stream(), into: one),
            follow(store.objects(type: Maker.self).stream(), into: all),
        ]
        #expect(try await eventually { one.all.count == 1 && all.all.count == 1 })
        await store.save(Model(id: "s", name: "renamed"))
        #expect(try await eventually { one.all.last?.models[0].name == "renamed" })
        #expect(try await eventually { all.all.last?[0].models[0].name == "renamed" })
        await store.delete(id: "s", of: Model.self)
        #expect(
            try await eventually {
                one.all.last?.models.isEmpty == true && all.all.last?[0].models.isEmpty == true
            }
        )
        await store.save(Model(id: "s", name: "back"))
        #expect(try await eventually { one.all.last?.models.first?.name == "back" })
        for task in tasks { await end(task) }
    }

    @Test("a burst of changes gives few values, the last included") func bursts() async throws {
        let store = store
        let found = Found<Int>()
        let stream = Carrier(value: store.objects(type: Piece.self).stream())
        let task = Task {
            for try await pieces in stream.value { found.add(pieces.count) }
        }
        #expect(try await eventually { found.all == [0] })
        // More changes than the archive keeps as events.
        for _ in 0..<3 { await store.save(objects: Piece.all(ofSet: 0, count: 3_000)) }
        for id in 0..<200 { await store.delete(id: id, of: Piece.self) }
        #expect(try await eventually { found.all.last == 2_800 })
        #expect(found.all.count < 204, "\(found.all.count)")
        task.cancel()
        _ = try? await task.value
    }

    /// The delay is only printed, since a busy machine may delay tasks.
    @Test("changes by other processes are received in order") func otherProcesses() async throws {
        let store = store
        let (seen, delays) = (Found<Int>(), Found<UInt64>())
        let stream = Carrier(value: store.objects(type: Moment.self).stream())
        let task = Task {
            for try await moments in stream.value {
                if let last = moments.last { delays.add(monotonicNow() - last.nanoseconds) }
                seen.add(moments.count)
            }
        }
        #expect(try await eventually { seen.all == [0] })
        let count = 30
        let worker = try ChildProcess(
            ChildProcess.program(named: "PapyrusWorker"), ["save", place.url.path, "\(count)", "40"])
        #expect(try await eventually { worker.hasEnded() } && worker.code == 0)
        #expect(try await eventually { seen.all.last == count })
        task.cancel()
        try await task.value
        #expect(seen.all == seen.all.sorted(), "in order")
        let sorted = delays.all.sorted()
        var figures = Figures("Papyrus: another process's change")
        figures.add("seen", sorted.count)
        figures.add("median", nanoseconds: sorted[sorted.count / 2])
        figures.add("slowest", nanoseconds: sorted[sorted.count - 1])
        figures.report()
    }

    /// The number of threads of this process.
    private var threads: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }

    @Test("a thousand streams take no threads") func manyStreams() async throws {
        let store = store
        await store.save(Car(id: "a"))
        let before = threads
        let seen = Found<Int>()
        let tasks = (0..<1_000).map { number in
            let stream = Carrier(
                value: number % 2 == 0
                    ? store.objects(type: Car.self).stream()
                    : store.objects(type: Car.self).filter { $0.id != "b" }.stream())
            return Task {
                for try await cars in stream.value { seen.add(cars.count) }
            }
        }
        #expect(try await eventually { seen.all.reduce(0, +) == 1_000 })
        #expect(threads < before + 100, "\(threads), before \(before)")
        await store.save(Car(id: "c"))
        #expect(try await eventually { seen.all.reduce(0, +) == 3_000 })
        for task in tasks { task.cancel() }
        for task in tasks { _ = try? await task.value }
        #expect(try await eventually { store.waitingObservers == 0 })
    }

    @Test("a released stream stops observing") func releasedStreams() async throws {
        let store = store
        await store.save(Car(id: "a"))
        func look() async throws -> [Car]? {
            for try await cars in store.objects(type: Car.self).stream() { return cars }
            return nil
        }
        #expect(try await look() == [Car(id: "a")])
        _ = store.objects(type: Car.self).stream()
        #expect(try await eventually { store.waitingObservers == 0 })
    }

    @Test("a stream continues in a recreated folder") func recreatedFolder() async throws {
        let store = store
        await store.save(Car(id: "a"))
        let found = Found<[Car]>()
        let task = follow(store.objects(type: Car.self).stream(), into: found)
        #expect(try await eventually { found.all.count == 1 })
        // Moved first, since the stream recreates the folder as soon as a part of it is missing.
        let former = place.url.appendingPathExtension("former")
        try FileManager.default.moveItem(at: place.url, to: former)
        try removeFolderInUse(former.path)
        #expect(try await eventually { found.all.last?.isEmpty == true })
        await store.save(Car(id: "b"))
        #expect(try await eventually { found.all.last?.map(\.id) == ["b"] })
        await end(task)
    }

    @Test("an error of a filter ends the stream") func throwingFilter() async throws {
        struct Refusal: Error {}
        await store.save(Car(id: "a"))
        await #expect(throws: Refusal.self) {
            for try await _ in store.objects(type: Car.self).filter({ _ in throw Refusal() }).stream() {}
        }
        store.logLevel = .off
        #expect(await store.objects(type: Car.self).filter { _ in throw Refusal() }.execute().isEmpty)
    }
}
