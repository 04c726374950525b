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

    /// The listed finders that fit a property of the page's user.
    @Test func listOfFinders() {
        func count(_ conditions: (QueryFinder<User>) -> QueryFinder<User>) -> Int {
            userCache.findWhere(conditions).getResults().count
        }
        #expect(count { $0.userName(.contains(string: "premium1")) } == 5)
        #expect(count { $0.userName(.contains("premium1")) } == 5)
        #expect(count { $0.userName(.matches(regex: "^premium1[0-4]$")) } == 3)
        #expect(count { $0.userName(.countEqual(with: 8)) } == 5)
        #expect(count { $0.userName(.countGreater(than: 8)) } == 7)
        #expect(count { $0.userName(.countLess(than: 8)) } == 12)
        #expect(count { $0.userName(.countGreaterOrEqual(with: 8)) } == 12)
        #expect(count { $0.userName(.countLessOrEqual(with: 8)) } == 17)
        #expect(count { $0.age(.isEqual(with: 1)) } == 6)
        #expect(count { $0.age(.isEqual(1)) } == 6)
        #expect(count { $0.age(.isNotEqual(with: 1)) } == 18)
        #expect(count { $0.age(.isNotEqual(1)) } == 18)
        #expect(count { $0.age(.greater(than: 1)) } == 12)
        #expect(count { $0.age(.less(than: 1)) } == 6)
        #expect(count { $0.age(.greaterOrEqual(with: 1)) } == 18)
        #expect(count { $0.age(.lessOrEqual(with: 1)) } == 12)
    }

    struct Group: Codable, Archivable {
        var primaryKey: String
        var tags: [String]
    }

    @Test func listOfFindersOfCollections() throws {
        let groups = try store.factory().archives(for: Group.self)
        groups.insert(
            Group(primaryKey: "none", tags: []), Group(primaryKey: "a", tags: ["a"]),
            Group(primaryKey: "ab", tags: ["a", "b"]), Group(primaryKey: "abc", tags: ["a", "b", "c"]))
        func keys(_ conditions: (QueryFinder<Group>) -> QueryFinder<Group>) -> [String] {
            groups.findWhere(conditions).getResults().map(\.primaryKey).sorted()
        }
        #expect(keys { $0.tags(.contains(with: "b")) } == ["ab", "abc"])
        #expect(keys { $0.tags(.contains(atLeastOne: ["c", "b"])) } == ["ab", "abc"])
        #expect(keys { $0.tags(.contains(all: ["c", "b"])) } == ["abc"])
        #expect(keys { $0.tags(.countEqual(with: 2)) } == ["ab"])
        #expect(keys { $0.tags(.countGreater(than: 1)) } == ["ab", "abc"])
        #expect(keys { $0.tags(.countLess(than: 1)) } == ["none"])
        #expect(keys { $0.tags(.countGreaterOrEqual(with: 1)) } == ["a", "ab", "abc"])
        #expect(keys { $0.tags(.countLessOrEqual(with: 1)) } == ["a", "none"])
    }
}
