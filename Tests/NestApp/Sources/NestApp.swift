import Foundation
import Nest

/// Keeps an item on disk, as the page of the library does.
@main struct NestApp {
    static func main() {
        let key = Nest.key(with: "UserController", parameters: ["userData", "ada"])
        print(Nest.shared[key].map { "still there: \($0)" } ?? "nothing there yet")
        Nest.shared.add(
            item: ["age": 36], withKey: key, expirationPolicy: .short, andPersistancePolicy: .medium)
        print(Nest.shared.problem(with: key) ?? "kept on disk")
    }
}
