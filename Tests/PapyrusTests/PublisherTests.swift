import Foundation
import Papyrus
import StorageEngine
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#endif

@Suite struct PublisherTests {
    private let place = Place()
    private var store: PapyrusStore { place.store }

    @Test("a publisher starts with the present objects and follows changes") func publishers() async throws {
        let store = store
        let found = Found<[Car]>()
        let cancellable = store.objects(type: Car.self).sort { $0.id > $1.id }
            .publisher()
            .subscribe(on: DispatchQueue.global())
            .receive(on: DispatchQueue.global())
            .sink { found.add($0) }
        #expect(try await eventually { found.all == [[]] })
        await store.save(objects: [Car(id: "a"), Car(id: "b")])
        #expect(try await eventually { found.all.last?.map(\.id) == ["b", "a"] })
        cancellable.cancel()
        await store.save(Car(id: "c"))
        // When another subscriber has received the change, the first one would have received it, too.
        let other = Found<[Car]>()
        let second = store.objects(type: Car.self).publisher().sink { other.add($0) }
        #expect(try await eventually { other.all.last?.count == 3 })
        second.cancel()
        #expect(found.all.count == 2)
    }

    @Test("an object saved after a stream or publisher is created is received", arguments: [true, false])
    func updatesOnSaving(storeIsThere: Bool) async throws {
        let store = store
        if storeIsThere { await store.save(Other(id: 1)) }
        let found = Found<[Car]>()
        let cancellable = store.objects(type: Car.self).publisher().sink { found.add($0) }
        await store.save(Car(id: "a"))
        #expect(try await eventually { found.all.count >= 2 })
        await store.save(Car(id: "b"))
        #expect(try await eventually { found.all.last?.count == 2 })
        #expect(found.all == [[], [Car(id: "a")], [Car(id: "a"), Car(id: "b")]])
        cancellable.cancel()
    }

    @Test("sends the state between a save and a delete that follows at once", arguments: [true, false])
    func stateBetweenTwoChanges(waitsForFirst: Bool) async throws {
        let store = store
        let found = Found<[Car]>()
        let cancellable = store.objects(type: Car.self).publisher().sink { found.add($0) }
        if waitsForFirst { #expect(try await eventually { found.all.count == 1 }) }
        await store.save(Car(id: "a"))
        await store.delete(id: "a", of: Car.self)
        #expect(try await eventually { found.all.count >= 3 })
        #expect(found.all == [[], [Car(id: "a")], []])
        cancellable.cancel()
    }

    @Test("a stream has the state between a save and a delete before its first value is read")
    func streamOfStateBetweenTwoChanges() async throws {
        var values = store.objects(type: Car.self).stream().makeAsyncIterator()
        await store.save(Car(id: "a"))
        await store.delete(id: "a", of: Car.self)
        #expect(try await values.next() == [])
        #expect(try await values.next() == [Car(id: "a")])
        #expect(try await values.next() == [])
    }

    @Test("sends an object's state between two changes") func objectBetweenTwoChanges() async throws {
        let store = store
        let (found, ends) = (Found<String>(), Found<Bool>())
        await store.save(Car(id: "a", model: "old"))
        let cancellable = store.object(id: "a", of: Car.self).publisher().sink(
            receiveCompletion: { _ in ends.add(true) }, receiveValue: { found.add($0.model) })
        await store.save(Car(id: "a", model: "new"))
        await store.delete(id: "a", of: Car.self)
        #expect(try await eventually { ends.all == [true] })
        #expect(found.all == ["old", "new"])
        withExtendedLifetime(cancellable) {}
    }

    private struct Other: Papyrus {
        let id: Int
    }

    @Test("an object's publisher ends with its deletion") func deletedObject() async throws {
        let store = store
        let (found, ends) = (Found<Car>(), Found<Bool>())
        await store.save(Car(id: "a"))
        let cancellable = store.object(id: "a", of: Car.self).publisher().sink(
            receiveCompletion: { completion in
                if case .failure(let error) = completion {
                    ends.add(error.isNotFound)
                } else {
                    ends.add(false)
                }
            },
            receiveValue: { found.add($0) })
        #expect(try await eventually { found.all.count == 1 })
        await store.save(Car(id: "a", model: "new"))
        #expect(try await eventually { found.all.last?.model == "new" })
        await store.delete(id: "a", of: Car.self)
        #expect(try await eventually { ends.all == [true] })
        #expect(found.all.count == 2)
        withExtendedLifetime(cancellable) {}
    }

    /// Sends as many values as are demanded, each with the state at that time.
    @Test("a publisher sends as many values as are demanded") func demand() async throws {
        let store = store
        let found = Found<Int>()
        await store.save(Car(id: "0"))
        let subscriber = OneByOne(found)
        store.objects(type: Car.self).publisher().subscribe(subscriber)
        #expect(try await eventually { found.all == [1] })
        for number in 1...3 { await store.save(Car(id: "\(number)")) }
        subscriber.askForMore()
        #expect(try await eventually { found.all == [1, 4] })
        subscriber.end()
    }

    private final class OneByOne: Subscriber, @unchecked Sendable {
        typealias Input = [Car]
        typealias Failure = Never

        private let found: Found<Int>
        private let subscription = Guarded<Held?>(nil)
        private struct Held: @unchecked Sendable { let subscription: any Subscription }

        init(_ found: Found<Int>) { self.found = found }

        func receive(subscription: any Subscription) {
            let held = Held(subscription: subscription)
            self.subscription.withLock { $0 = held }
            subscription.request(.max(1))
        }

        func receive(_ input: [Car]) -> Subscribers.Demand {
            found.add(input.count)
            return .none
        }

        func receive(completion: Subscribers.Completion<Never>) {}
        func askForMore() { subscription.withLock { $0 }?.subscription.request(.max(1)) }
        func end() { subscription.withLock { $0 }?.subscription.cancel() }
    }

    @Test("many subscribers can be cancelled at once") func manySubscribers() async throws {
        let store = store
        await store.save(Car(id: "a"))
        let seen = Guarded(0)
        var cancellables: Set<AnyCancellable> = []
        for _ in 0..<200 {
            store.objects(type: Car.self).publisher()
                .sink { cars in seen.withLock { $0 += cars.count } }
                .store(in: &cancellables)
        }
        #expect(try await eventually { seen.withLock { $0 } == 200 })
        await store.save(Car(id: "b"))
        #expect(try await eventually { seen.withLock { $0 } == 600 })
        cancellables = []
        await store.save(Car(id: "c"))
        #expect(await store.all(Car.self).count == 3)
    }
}
