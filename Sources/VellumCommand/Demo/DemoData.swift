import CBOR

/// Sendable value type. The entries that the demonstration works with: cities of the GeoNames database.
struct DemoData: Sendable {
    private(set) var keys: [String] = []
    /// CBOR of the object of the key in the same place.
    private(set) var values: [[UInt8]] = []
    /// Sum of the values' sizes.
    private(set) var bytes = 0

    static let archiveName = "City"
    static let typeName = "City"
    private static let keyProperty = KeyProperty("geonameid")

    /// Reads an NDJSON file of cities, all of which must be well-formed.
    init(path: String) throws(CommandFailure) {
        let input = try InputBuffer(path: path)
        var reader = LineReader(input)
        var writer = CBORWriter()
        while let record = try reader.next(into: &writer) {
            let found = writer.bytes.withUnsafeBytes { Self.keyProperty.find(in: $0) }
            guard case .value = record, case .key(let key) = found else {
                throw CommandFailure(
                    "\(path) is not the demonstration's file of cities", status: .storeFailure)
            }
            keys.append(key)
            values.append(writer.bytes)
            bytes += writer.bytes.count
        }
        guard !keys.isEmpty else { throw CommandFailure("\(path) holds no cities", status: .storeFailure) }
    }
}
