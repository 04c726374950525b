import Foundation
import Testing
import Vellum

/// The usage page's queries, verbatim, and its list of finders.
@Suite struct QueryBlockTests {
    struct User: Codable, Archivable, Equatable {
        var primaryKey: String { userName }
        var userName: String
        var fullName: String
        var age: Int
    }

    private let store = TemporaryStore()
    private let userCache: ArchiveManager<User>

    init() throws {
        userCache = try store.factory().archives(for: User.self)
        for number in 0..<24 {
            let kind = number % 2 == 0 ? "premium" : "plain"
            userCache.record(
                User(userName: "\(kind)\(number)", fullName: "Full \(9 - number % 3)", age: number % 4))
        }
    }

    @Test func finding() {
        let results = userCache.findWhere { archive in
            archive.userName(.contains("premium"))
                .fullName(.isNotEqual(nil))
        }
        .getResults()
        #expect(results.count == 12)
        #expect(results.allSatisfy { $0.userName.hasPrefix("premium") })
        #expect(results.first?.userName == "premium22", "the most recent is first")
    }

    private func areSorted(_ users: [User]) -> Bool {
        zip(users, users.dropFirst()).allSatisfy { ($0.age, $1.fullName) <= ($1.age, $0.fullName) }
    }

    @Test func sorting() {
        let results = userCache.sorted { by in
            by.age(.ascending)
                .fullName(.descending)
        }
        .getResults()
        #expect(results.count == 24 && areSorted(results))
        #expect(results.first?.age == 0 && results.first?.fullName == "Full 9")
        #expect(results.last?.age == 3 && results.last?.fullName == "Full 7")
    }

    @Test func limiting() {
        let results = userCache.sorted { by in
            by.age(.ascending)
                .fullName(.descending)
        }
        .limitResults(by: 10)
        .getResults()
        #expect(results.count == 10 && areSorted(results))
        #expect(results.allSatisfy { $0.age <= 1 })
    }

    @Test func combining() {
        let results = userCache.findWhere { archive in
            archive.userName(.contains("premium"))
                .fullName(.isNotEqual(nil))
        }
        .sorted { by in
            by.age(.ascending)
                .fullName(.descending)
        }
        .limitResults(by: 10)
        .getResults()
        #expect(results.count == 10 && areSorted(results))
        #expect(results.allSatisfy { $0.userName.hasPrefix("premium") && $0.age % 2 == 0 })
    }

    @Test func validatingManually() {
        let results = userCache.findWhere { archive in
            archive.userName(.isValid { $0.contains("premium") })
        }
        .getResults()
        #expect(results.count == 12)
        #expect(results.allSatisfy { $0.userName.contains("premium") })
    }

    @Test func resultsAreAccessed() throws {
        _ = userCache.findWhere { $0.userName(.isEqual("plain1")) }.getResults()
        #expect(userCache.accessAll(limitedBy: 1).map(\.userName) == ["plain1"])
    }
}
