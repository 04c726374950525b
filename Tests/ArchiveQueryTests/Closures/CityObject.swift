import Foundation

/// A city of the demonstration, declared like in a program.
struct CityObject: Codable {
    var geonameid: Int
    var name: String
    var latitude: Double
    var countrycode: String
    var population: Int
    var timezone: String?
    var admin1code: String?
    var alternatenames: [String]?

    static func properties(of all: [Kept<CityObject>]) -> [ClosureProperty<Kept<CityObject>>] {
        let cities = all.map(\.object)
        let names = cities.flatMap { $0.alternatenames ?? [] }
        return Kept.metadata(of: all) + [
            .integer("geonameid", { $0.object.geonameid }, samples: cities.map(\.geonameid)),
            .text("name", { $0.object.name }, samples: cities.map(\.name)),
            // Sums of these fractions are rounded, so the property isn't summed.
            .unsummed("latitude", { $0.object.latitude }, samples: cities.map(\.latitude)),
            .text("countrycode", { $0.object.countrycode }, samples: cities.map(\.countrycode)),
            .integer("population", { $0.object.population }, samples: cities.map(\.population)),
            .text("timezone", { $0.object.timezone }, samples: cities.compactMap(\.timezone)),
            .text("admin1code", { $0.object.admin1code }, samples: cities.compactMap(\.admin1code)),
            .list("alternatenames", { $0.object.alternatenames }, samples: names, spelled: quoted),
            .text("alternatenames[0]", { $0.object.alternatenames?.first }, samples: names),
            .text("missing", { _ in nil }, samples: ["a", ""]),
        ]
    }

    private static func quoted(_ text: String) -> String { ClosureProperty<Kept<CityObject>>.quoted(text) }
}

extension Kept {
    /// Metadata of entries of every archive.
    static func metadata(of all: [Kept]) -> [ClosureProperty<Kept>] {
        [
            .text("@key", { $0.key }, samples: all.map(\.key)),
            .integer("@size", { $0.bytes.count }, samples: all.map(\.bytes.count)),
            .text("@owner", { $0.owner }, samples: ["api", "import", "none"]),
            .integer("@hits", { $0.hits }, samples: [0, 1, 2]),
            .integer("@rank", { $0.rank }, samples: [1, 10, 50]),
        ]
    }
}
