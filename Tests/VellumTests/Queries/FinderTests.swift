import Testing
import Vellum

/// Every finder with values that match, values that don't, and nil.
@Suite struct FinderTests {
    private typealias Finder = QueryFinder<Citizen>

    private func found(_ citizens: [Citizen], _ conditions: (Finder) -> Finder) -> [String] {
        Shelf(citizens).findWhere(conditions).getResults().map(\.name)
    }

    private let named = ["premium ann", "Premium bob", "carl"].map { Citizen(name: $0) }

    private let nicked = [
        Citizen(name: "none"), Citizen(name: "empty", nick: ""), Citizen(name: "al", nick: "Al"),
        Citizen(name: "alan", nick: "Alan"),
    ]

    private let tagged = [
        Citizen(name: "none"), Citizen(name: "a", tags: ["a"]), Citizen(name: "ab", tags: ["a", "b"]),
        Citizen(name: "abc", tags: ["c", "b", "a"]),
    ]

    private let former = [
        Citizen(name: "nil"), Citizen(name: "none", former: []), Citizen(name: "a", former: ["a"]),
        Citizen(name: "ab", former: ["b", "a"]),
    ]

    private let aged = [
        Citizen(name: "nil", age: 1), Citizen(name: "1", age: 1, children: 1),
        Citizen(name: "2", age: 2, children: 2), Citizen(name: "3", age: 3, children: 3),
    ]

    @Test("a text contains a string, with or without case") func containsString() {
        #expect(found(named) { $0.name(.contains(string: "premium")) } == ["premium ann"])
        #expect(found(named) { $0.name(.contains("premium")) } == ["premium ann"])
        #expect(
            found(named) { $0.name(.contains(string: "premium", caseSensitive: true)) } == ["premium ann"])
        #expect(
            found(named) { $0.name(.contains(string: "PREMIUM", caseSensitive: false)) }
                == ["premium ann", "Premium bob"])
        #expect(found(named) { $0.name(.contains("")) }.count == 3)
        #expect(found(nicked) { $0.nick(.contains("Al")) } == ["al", "alan"])
        #expect(found(nicked) { $0.nick(.contains(string: "AN", caseSensitive: false)) } == ["alan"])
        #expect(found(nicked) { $0.nick(.contains("")) } == ["empty", "al", "alan"])
    }

    @Test("a text matches a regular expression; an invalid one matches nothing") func matchesRegex() {
        #expect(found(named) { $0.name(.matches(regex: "^[Pp]rem.*n{2}$")) } == ["premium ann"])
        #expect(found(named) { $0.name(.matches(regex: "r[le]")) } == ["premium ann", "Premium bob", "carl"])
        #expect(found(nicked) { $0.nick(.matches(regex: ".*")) } == ["empty", "al", "alan"])
        #expect(found(nicked) { $0.nick(.matches(regex: "(")) } == [])
    }

    @Test("a collection contains one, any or all elements") func containsElements() {
        #expect(found(tagged) { $0.tags(.contains(with: "b")) } == ["ab", "abc"])
        #expect(found(tagged) { $0.tags(.contains("b")) } == ["ab", "abc"])
        #expect(found(tagged) { $0.tags(.contains("c", "a")) } == ["abc"])
        #expect(found(tagged) { $0.tags(.contains(atLeastOne: ["c", "b"])) } == ["ab", "abc"])
        #expect(found(tagged) { $0.tags(.contains(atLeastOne: [])) } == [])
        #expect(found(tagged) { $0.tags(.contains(all: ["a", "b"])) } == ["ab", "abc"])
        #expect(found(tagged) { $0.tags(.contains(all: [])) }.count == 4)
        #expect(found(former) { $0.former(.contains(with: "b")) } == ["ab"])
        #expect(found(former) { $0.former(.contains(atLeastOne: ["z", "a"])) } == ["a", "ab"])
        #expect(found(former) { $0.former(.contains(all: Set(["a", "b"]))) } == ["ab"])
        #expect(found(former) { $0.former(.contains(all: [])) } == ["none", "a", "ab"])
        #expect(found(former) { $0.former(.contains("a", "b")) } == ["ab"])
        let spoken = [
            Citizen(name: "id", languages: ["id"]), Citizen(name: "both", languages: ["id", "de"]),
        ]
        #expect(found(spoken) { $0.languages(.contains(with: "de")) } == ["both"])
    }

    @Test("collections and texts are found by their counts") func counts() {
        #expect(found(tagged) { $0.tags(.countEqual(with: 2)) } == ["ab"])
        #expect(found(tagged) { $0.tags(.countGreater(than: 1)) } == ["ab", "abc"])
        #expect(found(tagged) { $0.tags(.countLess(than: 1)) } == ["none"])
        #expect(found(tagged) { $0.tags(.countGreaterOrEqual(with: 1)) } == ["a", "ab", "abc"])
        #expect(found(tagged) { $0.tags(.countLessOrEqual(with: 1)) } == ["none", "a"])
        #expect(found(former) { $0.former(.countEqual(with: 0)) } == ["none"])
        #expect(found(former) { $0.former(.countLess(than: 9)) } == ["none", "a", "ab"])
        #expect(found(former) { $0.former(.countGreater(than: -1)) } == ["none", "a", "ab"])
        #expect(found(former) { $0.former(.countGreaterOrEqual(with: 2)) } == ["ab"])
        #expect(found(former) { $0.former(.countLessOrEqual(with: 0)) } == ["none"])
        #expect(found(nicked) { $0.nick(.countEqual(with: 2)) } == ["al"])
    }

    @Test("values are found by equality") func equality() {
        #expect(found(aged) { $0.age(.isEqual(with: 1)) } == ["nil", "1"])
        #expect(found(aged) { $0.age(.isEqual(2)) } == ["2"])
        #expect(found(aged) { $0.age(.isNotEqual(with: 1)) } == ["2", "3"])
        #expect(found(aged) { $0.age(.isNotEqual(1)) } == ["2", "3"])
        #expect(found(aged) { $0.children(.isEqual(with: 1)) } == ["1"])
        #expect(found(aged) { $0.children(.isNotEqual(with: 1)) } == ["nil", "2", "3"])
    }

    @Test("nil equals only nil") func equalityWithNil() {
        #expect(found(aged) { $0.children(.isEqual(nil)) } == ["nil"])
        #expect(found(aged) { $0.children(.isNotEqual(nil)) } == ["1", "2", "3"])
        #expect(found(aged) { $0.age(.isEqual(nil)) } == [])
        #expect(found(aged) { $0.age(.isNotEqual(nil)) }.count == 4)
        #expect(found(aged) { $0.work(.isEqual(nil)) }.count == 4)
    }

    @Test("values are found by their order, and NaN has none") func order() {
        #expect(found(aged) { $0.age(.greater(than: 2)) } == ["3"])
        #expect(found(aged) { $0.age(.less(than: 2)) } == ["nil", "1"])
        #expect(found(aged) { $0.age(.greaterOrEqual(with: 2)) } == ["2", "3"])
        #expect(found(aged) { $0.age(.lessOrEqual(with: 2)) } == ["nil", "1", "2"])
        #expect(found(aged) { $0.children(.greater(than: 0)) } == ["1", "2", "3"])
        #expect(found(aged) { $0.children(.less(than: 2)) } == ["1"])
        #expect(found(aged) { $0.children(.greaterOrEqual(with: 3)) } == ["3"])
        #expect(found(aged) { $0.children(.lessOrEqual(with: 2)) } == ["1", "2"])
        let tall = [Citizen(name: "1.5", height: 1.5), Citizen(name: "none", height: .nan)]
        #expect(found(tall) { $0.height(.greater(than: 1)) } == ["1.5"])
        #expect(found(tall) { $0.height(.lessOrEqual(with: 2)) } == ["1.5"])
    }

    @Test("absent properties are found, in both spellings") func presence() {
        #expect(found(nicked) { $0.nick(.isNil) } == ["none"])
        #expect(found(nicked) { $0.nick(.isNil()) } == ["none"])
        #expect(found(nicked) { $0.nick(.isNotNil) } == ["empty", "al", "alan"])
        #expect(found(nicked) { $0.nick(.isNotNil()) } == ["empty", "al", "alan"])
        #expect(found(nicked) { $0.nick(.isNilOrEmpty) } == ["none", "empty"])
        #expect(found(nicked) { $0.nick(.isNilOrEmpty()) } == ["none", "empty"])
        #expect(found(former) { $0.former(.isNilOrEmpty()) } == ["nil", "none"])
    }

    @Test("empty properties are found, in both spellings") func emptiness() {
        #expect(found(nicked) { $0.nick(.isEmpty) } == ["empty"])
        #expect(found(nicked) { $0.nick(.isNotEmpty()) } == ["al", "alan"])
        #expect(found(tagged) { $0.tags(.isEmpty()) } == ["none"])
        #expect(found(tagged) { $0.tags(.isNotEmpty) } == ["a", "ab", "abc"])
        #expect(found(former) { $0.former(.isEmpty()) } == ["none"])
        #expect(found(former) { $0.former(.isNotEmpty) } == ["a", "ab"])
    }

    @Test("a closure tests present and absent properties") func closures() {
        #expect(found(aged) { $0.age(.isValid { $0 % 2 == 0 }) } == ["2"])
        #expect(found(aged) { $0.children(.isValid { ($0 ?? 2) == 2 }) } == ["nil", "2"])
        #expect(found(nicked) { $0.nick(.isValid { $0 == nil }) } == ["none"])
    }

    @Test("consecutive conditions must all be met") func allConditionsCount() {
        #expect(found(aged) { $0.age(.greater(than: 1)).children(.less(than: 3)) } == ["2"])
        #expect(found(aged) { $0 }.count == 4)
    }

    private let housed = [
        Citizen(name: "home", home: .init(city: "Jakarta", zip: 10110)),
        Citizen(name: "work", work: .init(city: "Jakarta")),
        Citizen(name: "both", home: .init(city: "Bandung"), work: .init(city: "Bandung", zip: 40111)),
    ]

    @Test("properties of properties are found") func propertiesOfProperties() {
        #expect(found(housed) { $0.home.city(.isEqual("Jakarta")) } == ["home"])
        #expect(found(housed) { $0.home.zip(.isNil) } == ["work", "both"])
        #expect(found(housed) { $0.home.city.count(.greater(than: 0)) } == ["home", "both"])
        #expect(found(housed) { $0.work.city(.contains("a")) } == ["work", "both"])
        #expect(found(housed) { $0.work.city(.isNil) } == ["home"])
        #expect(found(housed) { $0.work.city(.isNotEqual("Jakarta")) } == ["home", "both"])
        #expect(found(housed) { $0.work.zip(.isNotNil) } == ["both"])
        #expect(found(housed) { $0.work.zip(.isNil) } == ["home", "work"])
        #expect(found(housed) { $0.work(.isNil) } == ["home"])
        #expect(found(housed) { $0.work.zip(.isEqual(40111)).home.city(.contains("Band")) } == ["both"])
    }
}
