import CBOR

/// The countries of the cities. The workload doesn't change them, so deletions can be undone.
enum DemoCountries {
    static func record(_ data: DemoData, in archive: Archive) throws(StorageError) {
        func population(_ city: CBORMap) -> UInt64 { city[key: "population"]?.asUInt64 ?? 0 }
        let cities = data.values.compactMap { (try? CBORReader.decode($0))?.asMap }
        let countries = Dictionary(grouping: cities) { $0[key: "countrycode"]?.asString ?? "" }
        for (code, cities) in countries.sorted(by: { $0.key < $1.key }) where !code.isEmpty {
            let largest = cities.max { population($0) < population($1) }
            let timezones = Set(cities.compactMap { $0[key: "timezone"]?.asString }).sorted()
            let value = CBORMap([
                .init(key: "countrycode", value: .text(code)),
                .init(key: "cities", value: .unsigned(UInt64(cities.count))),
                .init(key: "population", value: .unsigned(cities.reduce(0) { $0 + population($1) })),
                .init(key: "largest", value: largest?[key: "name"] ?? .text("")),
                .init(key: "timezones", value: .array(timezones.map { .text($0) })),
            ])
            try archive.put(CBORValue.map(value).encoded, forKey: "country:\(code)", encoding: .cbor)
        }
    }
}
