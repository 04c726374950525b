import Foundation

/// A city of the demonstration data (GeoNames, CC BY 4.0) with all its properties: a typical small value.
struct City: Codable, Sendable, Equatable {
    var geonameid: Int
    var name: String
    var latitude: Double
    var longitude: Double
    var countrycode: String
    var population: Int
    var timezone: String
    var admin1code: String
    var alternatenames: [String]

    /// All cities of the file, in its order.
    static func all() throws -> [City] {
        let file = URL(fileURLWithPath: #filePath)
            .appendingPathComponent("../../../../../../Assets/demo/cities.ndjson").standardized
        let decoder = JSONDecoder()
        return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map {
            try decoder.decode(City.self, from: $0)
        }
    }
}
