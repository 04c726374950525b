import CBOR

/// The countries of the cities. The workload doesn't change them, so deletions can be undone.
struct DemoCountries: Sendable {
    private struct Country {
        var cities: UInt64 = 0
        var population: UInt64 = 0
        var largest = ""
        var largestPopulation: UInt64 = 0
        var timezones: [String] = []
    }

    private var countries: [String: Country] = [:]

    init(_ data: DemoData) {
        for value in data.values {
            guard let city = (try? CBORReader.decode(value))?.asMap,
                let code = city[key: "countrycode"]?.asString
            else { continue }
            let population = city[key: "population"]?.asUInt64 ?? 0
            var country = countries[code] ?? Country()
            country.cities += 1
            country.population += population
            if population >= country.largestPopulation {
                country.largest = city[key: "name"]?.asString ?? ""
                country.largestPopulation = population
            }
            if let zone = city[key: "timezone"]?.asString, !country.timezones.contains(zone) {
                country.timezones.append(zone)
            }
            countries[code] = country
        }
    }

    func record(in archive: Archive) throws(StorageError) {
        for (code, country) in countries.sorted(by: { $0.key < $1.key }) {
            let value = CBORMap([
                .init(key: "countrycode", value: .text(code)),
                .init(key: "cities", value: .unsigned(country.cities)),
                .init(key: "population", value: .unsigned(country.population)),
                .init(key: "largest", value: .text(country.largest)),
                .init(key: "timezones", value: .array(country.timezones.sorted().map { .text($0) })),
            ])
            try archive.put(CBORValue.map(value).encoded, forKey: "country:\(code)", encoding: .cbor)
        }
    }
}
