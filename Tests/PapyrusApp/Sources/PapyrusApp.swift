import Foundation
import Papyrus

struct Car: Papyrus {
    let id: UUID
    let model: String
}

/// Saves an object and observes it, as the page of the library does.
@main struct PapyrusApp {
    static func main() async throws {
        let store = PapyrusStore()
        let stream = store.objects(type: Car.self).stream()
        await store.save(Car(id: UUID(), model: "Model S"))
        for try await cars in stream {
            print("\(cars.count) cars")
            if !cars.isEmpty { break }
        }
        let cancellable = store.objects(type: Car.self).publisher()
            .subscribe(on: DispatchQueue.global())
            .sink { print("\($0.count) published") }
        while readLine() != nil {}
        cancellable.cancel()
    }
}
