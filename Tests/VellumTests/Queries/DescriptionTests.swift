import Testing
import Vellum

/// Descriptions of a query's conditions, for evaluation on encoded values.
@Suite struct DescriptionTests {
    private func condition(
        _ find: (QueryFinder<Citizen>) -> QueryFinder<Citizen>
    ) throws -> PropertyCondition<Citizen> {
        guard case .find(let conditions) = Query.find(find).step,
            case .property(let condition)? = conditions.first
        else { throw CancellationError() }
        return condition
    }

    private func test(_ find: (QueryFinder<Citizen>) -> QueryFinder<Citizen>) throws -> String {
        "\(try condition(find).test)"
    }

    @Test("each finder has a description") func finders() throws {
        let cases: [(PropertyTest, (QueryFinder<Citizen>) -> QueryFinder<Citizen>)] = [
            (.contains(text: "a", caseSensitive: true), { $0.name(.contains("a")) }),
            (
                .contains(text: "A", caseSensitive: false),
                { $0.nick(.contains(string: "A", caseSensitive: false)) }
            ),
            (.matches(pattern: "^a"), { $0.name(.matches(regex: "^a")) }),
            (.containsAll(["a"]), { $0.tags(.contains(with: "a")) }),
            (.containsAll(["a", "b"]), { $0.former(.contains("a", "b")) }),
            (.containsAll(["a", "b"]), { $0.tags(.contains(all: ["a", "b"])) }),
            (.containsAny(["a", "b"]), { $0.tags(.contains(atLeastOne: ["a", "b"])) }),
            (.count(.equal, 1), { $0.tags(.countEqual(with: 1)) }),
            (.count(.greater, 2), { $0.tags(.countGreater(than: 2)) }),
            (.count(.less, 3), { $0.tags(.countLess(than: 3)) }),
            (.count(.greaterOrEqual, 4), { $0.tags(.countGreaterOrEqual(with: 4)) }),
            (.count(.lessOrEqual, 5), { $0.tags(.countLessOrEqual(with: 5)) }),
            (.value(.equal, 1), { $0.age(.isEqual(with: 1)) }),
            (.value(.equal, nil), { $0.nick(.isEqual(nil)) }),
            (.value(.notEqual, 1), { $0.children(.isNotEqual(1)) }),
            (.value(.greater, 1), { $0.age(.greater(than: 1)) }),
            (.value(.less, 1), { $0.age(.less(than: 1)) }),
            (.value(.greaterOrEqual, 1), { $0.age(.greaterOrEqual(with: 1)) }),
            (.value(.lessOrEqual, 1), { $0.age(.lessOrEqual(with: 1)) }),
            (.isNil, { $0.nick(.isNil) }),
            (.isNotNil, { $0.nick(.isNotNil) }),
            (.isEmpty, { $0.nick(.isEmpty) }),
            (.isNotEmpty, { $0.tags(.isNotEmpty) }),
            (.isNilOrEmpty, { $0.nick(.isNilOrEmpty) }),
            (.isValid, { $0.nick(.isValid { _ in true }) }),
        ]
        for (expected, find) in cases {
            #expect(plain(try test(find)) == plain("\(expected)"))
        }
    }

    private func plain(_ text: String) -> String {
        text.replacing(/Optional\(([^()]*)\)/) { $0.output.1 }
    }

    @Test("operands have the property's type") func operands() throws {
        guard case .value(_, let age) = try condition({ $0.age(.isEqual(1)) }).test else {
            throw CancellationError()
        }
        #expect(age as? Int == 1)
        guard case .value(_, let none) = try condition({ $0.nick(.isEqual(nil)) }).test else {
            throw CancellationError()
        }
        #expect(none == nil)
    }

    @Test("a condition has the path of its property") func paths() throws {
        #expect(try condition { $0.age(.isEqual(1)) }.path == [\Citizen.age])
        #expect(try condition { $0.nick(.isNil) }.path == [\Citizen.nick])
        let city = [\Citizen.work, \Citizen.Address.city]
        #expect(try condition { $0.work.city(.isNil) }.path == city)
        let zip = [\Citizen.home, \Citizen.Address.zip]
        #expect(try condition { $0.home.zip(.isNil) }.path == zip)
    }

    @Test("a sort has its paths and directions") func orders() throws {
        let query = Query<Citizen>.sort {
            $0.age(.ascending).work.zip(.descending).manual(direction: .ascending) { _, _ in
                .leftEqualWithRight
            }
        }
        guard case .sort(let orders) = query.step else { throw CancellationError() }
        let paths = [[\Citizen.age], [\Citizen.work, \Citizen.Address.zip], nil]
        #expect(orders.map(\.path) == paths)
        #expect(orders.map(\.direction) == [.ascending, .descending, .ascending])
    }

    @Test("limits are at least 0") func limits() throws {
        for (given, expected) in [(3, 3), (0, 0), (-1, 0), (Int.min, 0)] {
            guard case .limit(let limiter) = Query<Citizen>.limit(by: given).step else {
                throw CancellationError()
            }
            #expect(limiter.limit == expected)
        }
    }
}
