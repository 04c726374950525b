import CBOR
import CDemoData

struct DemoData: Sendable {
    /// `city:ID:Jakarta`; a repeated name within a country gets a number.
    private(set) var keys: [String] = []
    /// CBOR, in the order of the keys.
    private(set) var values: [[UInt8]] = []
    private(set) var bytes = 0

    private static let numberProperty = KeyProperty("geonameid")

    private static let owners = ["search", "map", "weather", nil]

    /// The options of an entry: most entries have one of three owners; one in eight expires after 20 seconds to 3 minutes.
    func attributes(of place: Int) -> EntryAttributes {
        EntryAttributes(
            lifetime: place % 8 == 3 ? .seconds(20 + place % 160) : nil, owner: Self.owners[place / 2 % 4])
    }

    func text(_ property: String, of place: Int) -> String? { Self.text(property, of: values[place]) }

    private static func text(_ property: String, of value: [UInt8]) -> String? {
        let found = value.withUnsafeBytes { KeyProperty(property).find(in: $0) }
        guard case .key(let text) = found else { return nil }
        return text
    }

    /// Reads an NDJSON file of cities, or the embedded one. All lines must be well-formed.
    init(path: String?) throws(CommandFailure) {
        let input =
            try path.map(InputBuffer.init(path:))
            ?? InputBuffer(
                sample: Array(UnsafeBufferPointer(start: demo_cities, count: demo_cities_size)),
                name: "the program")
        var reader = ValueReader(input)
        var writer = CBORWriter()
        var taken: Set<String> = []
        while let record = try reader.next(into: &writer) {
            let found = writer.bytes.withUnsafeBytes { Self.numberProperty.find(in: $0) }
            guard case .value = record, case .key(let number) = found,
                let country = Self.text("countrycode", of: writer.bytes),
                let name = Self.text("name", of: writer.bytes)
            else {
                throw CommandFailure(
                    "\(input.name) is not the demonstration's file of cities", status: .storeFailure)
            }
            var key = "city:\(country):\(name)"
            if !taken.insert(key).inserted { key += ":\(number)" }
            keys.append(key)
            values.append(writer.bytes)
            bytes += writer.bytes.count
        }
        guard !keys.isEmpty else {
            throw CommandFailure("\(input.name) holds no cities", status: .storeFailure)
        }
    }
}
