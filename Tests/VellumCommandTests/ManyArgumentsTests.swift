import Foundation
import Testing

/// Regression: the argument parser's time grows with the square of the number of arguments: 13 s for 20,000 keys.
@Suite("thousands of arguments")
struct ManyArgumentsTests {
    let store: TestStore
    private let keys = (0..<3_000).map { "key \($0)" }

    init() throws {
        store = TestStore()
        let lines = keys.map { "{\"id\":\"\($0)\"}" }
        try store.done("import", "A", "-", "--key", "id", input: lines.joined(separator: "\n"))
    }

    @Test("finds each key, with options at any position", arguments: [[], ["--"]])
    func findsEachKey(dashes: [String]) throws {
        try Vellum.run(["exists", "--store", store.path, "A"] + dashes + keys).expect(0)
        for place in [0, 10, 16, 17, 1_500, 3_000] {
            var words = keys
            words.insert("none", at: place)
            let missing = try Vellum.run(["exists", "--store", store.path, "A"] + dashes + words)
            #expect(
                missing.status == 1 && missing.errors == "vellum: no entry \"none\"\n", "\(missing.errors)")
        }
        try Vellum.run(["touch", "A"] + keys + ["--in", "5m", "--store", store.path]).expect(0)
    }

    @Test("changes all keys; a command for one key reports how many are too many")
    func changesAllKeys() throws {
        let plan = try Vellum.run(["rm", "A", "--store", store.path, "--dry-run"] + keys)
        #expect(plan.text.hasPrefix("would delete 3,000 entries"), "\(plan.text)\(plan.errors)")
        try Vellum.run(["get", "--store", store.path, "A"] + keys).expect(2, errors: "and 2986 more")
    }
}
