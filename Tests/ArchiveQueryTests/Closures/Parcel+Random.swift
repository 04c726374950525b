import TestSupport
import CBOR
import Foundation

extension Parcel {
    private static let texts = [
        "", "a", "ab", "Anna", "banana", "Überlingen", "e\u{301}t\u{e9}", "\u{e9}te\u{301}", "漢字",
        "no \"quotes\" \\", "nn", "42",
    ]
    private static let cities = ["Jakarta", "Bandung", "São Paulo", "Köln", "Ko\u{308}ln"]

    /// A parcel as stored by a random version of the program.
    static func encoded(using random: inout SeededGenerator) throws -> [UInt8] {
        if Int.random(in: 0..<4, using: &random) == 0 {
            return try CBOREncoder().encode(
                EarlierParcel(
                    mark: .random(using: &random), name: texts.randomElement(using: &random)!,
                    sender: place(&random), weight: nil))
        }
        return try CBOREncoder().encode(parcel(&random))
    }

    private static func parcel(_ random: inout SeededGenerator) -> Parcel {
        func some(_ most: Int) -> Int { Int.random(in: 0...most, using: &random) }
        func text() -> String { texts.randomElement(using: &random)! }
        var contents: [String: Int] = [:]
        for name in ["apples", "pears", "a b"].prefix(some(3)) { contents[name] = some(4) - 1 }
        var parcel = Parcel(
            name: text(), tags: (0..<some(3)).map { _ in text() }, contents: contents, stops: [])
        if some(3) > 0 { parcel.isFragile = some(1) == 0 }
        if some(3) > 0 { parcel.weight = Double(some(20) - 6) / 4 }
        if some(3) > 0 { parcel.price = Decimal(some(20)) / 4 }
        if some(3) > 0 { parcel.sent = date(&random) }
        if some(3) > 0 { parcel.speed = some(1) == 0 ? .slow : .fast }
        if some(2) > 0 { parcel.sizes = (0..<some(4)).map { _ in some(5) - 2 } }
        if some(2) > 0 { parcel.seal = Data(repeating: 7, count: some(5)) }
        parcel.sender = place(&random)
        parcel.mark = .random(using: &random)
        parcel.stops = (0..<some(2)).map { _ in
            Stop(
                place: Place(city: cities.randomElement(using: &random)!, zip: some(1) == 0 ? nil : some(3)),
                at: date(&random), notes: (0..<some(2)).map { _ in text() })
        }
        return parcel
    }

    private static func place(_ random: inout SeededGenerator) -> Place? {
        guard Int.random(in: 0..<3, using: &random) > 0 else { return nil }
        let zip = Int.random(in: 0..<6, using: &random)
        return Place(city: cities.randomElement(using: &random)!, zip: zip == 0 ? nil : zip)
    }

    /// Between 1969 and 1973, in halves of seconds.
    fileprivate static func date(_ random: inout SeededGenerator) -> Date {
        Date(timeIntervalSince1970: Double(Int.random(in: -60...250, using: &random)) * 500_000.5)
    }

    static func properties(of all: [Kept<Parcel>]) -> [ClosureProperty<Kept<Parcel>>] {
        let parcels = all.map(\.object)
        let quoted = ClosureProperty<Kept<Parcel>>.quoted
        let dates = parcels.compactMap(\.sent)
        return Kept.metadata(of: all) + [
            .text("name", { $0.object.name }, samples: texts),
            .flag("isFragile") { $0.object.isFragile },
            .fraction("weight", { $0.object.weight }, samples: parcels.compactMap(\.weight)),
            .decimal("price", { $0.object.price }, samples: parcels.compactMap(\.price)),
            .date("sent", { $0.object.sent }, samples: dates),
            .text("speed", { $0.object.speed?.rawValue }, samples: ["slow", "fast"]),
            .list("tags", { $0.object.tags }, samples: texts, spelled: quoted),
            .text("tags[1]", { $0.object.tags.dropFirst().first }, samples: texts),
            .list("sizes", { $0.object.sizes }, samples: [-2, -1, 0, 1, 2, 3], spelled: { String($0) }),
            .integer("sizes[0]", { $0.object.sizes?.first }, samples: [-2, -1, 0, 1, 2, 3]),
            .container("contents") { $0.object.contents },
            .integer("contents.apples", { $0.object.contents["apples"] }, samples: [-1, 0, 1, 3]),
            .integer("contents.\"a b\"", { $0.object.contents["a b"] }, samples: [-1, 0, 1, 3]),
            .container("seal") { $0.object.seal },
            .text("sender.city", { $0.object.sender?.city }, samples: cities),
            .integer("sender.zip", { $0.object.sender?.zip }, samples: [1, 2, 3, 4, 5]),
            .container("stops", { $0.object.stops }, isList: true),
            .text("stops[0].place.city", { $0.object.stops.first?.place.city }, samples: cities),
            .date("stops[1].at", { $0.object.stops.dropFirst().first?.at }, samples: dates),
            .list("stops[0].notes", { $0.object.stops.first?.notes }, samples: texts, spelled: quoted),
            .mark("mark") { $0.object.mark },
        ]
    }
}

extension Mark {
    static func random(using random: inout SeededGenerator) -> Mark? {
        let number = Int.random(in: -3...3, using: &random)
        return switch Int.random(in: 0...9, using: &random) {
        case 0, 1: .integer(number)
        case 2: .fraction(Double(number) / 2)
        case 3: .flag(number > 0)
        case 4: .date(Date(timeIntervalSince1970: Double(number) * 86_400))
        case 5: .text("")
        case 6: .text(["a", "é", "e\u{301}", "z", "10"].randomElement(using: &random)!)
        case 7: .list([1])
        default: nil
        }
    }
}
