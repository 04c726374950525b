import CBOR

/// Finds an entry's key in its encoded object.
struct KeyProperty: Sendable {
    enum Found {
        case key(String)
        case fault(String)
    }

    let name: String

    init(_ name: String) { self.name = name }

    /// A string is the key itself, an integer the key in its JSON spelling. `cbor` must be well-formed.
    func find(in cbor: UnsafeRawBufferPointer) -> Found {
        do throws(CBORError) {
            var reader = CBORReader(cbor)
            guard case .map = try reader.readHead() else { return .fault("not an object, so it has no key") }
            reader = CBORReader(cbor)
            guard try reader.enterMap(atKey: name) else { return .fault("there is no property \"\(name)\"") }
            let start = reader.offset
            switch try reader.readHead() {
            case .text(let count): return .key(try reader.readText(count: count))
            case .unsigned(let number): return .key(String(number))
            case .negative(let number):
                return .key(number == .max ? "-18446744073709551616" : "-\(number + 1)")
            case .tag(let tag) where tag == 2 || tag == 3:
                var item = CBORReader(UnsafeRawBufferPointer(rebasing: cbor[start...]))
                try item.skipItem()
                var spelling: [UInt8] = []
                try JSONPrinter.print(
                    UnsafeRawBufferPointer(rebasing: cbor[start..<start + item.offset]), into: &spelling)
                return .key(String(decoding: spelling, as: UTF8.self))
            case let head:
                return .fault("property \"\(name)\" is \(Self.kind(of: head)), not a string or an integer")
            }
        } catch {
            return .fault("cannot be read back: \(error)")
        }
    }

    func value(in cbor: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var reader = CBORReader(cbor)
        guard (try? reader.enterMap(atKey: name)) == true else { return nil }
        let start = reader.offset
        guard (try? reader.skipItem()) != nil else { return nil }
        return UnsafeRawBufferPointer(rebasing: cbor[start..<reader.offset])
    }

    /// The stored part of an object: a property's value, or the whole.
    static func content(of cbor: UnsafeRawBufferPointer, _ property: KeyProperty?) -> UnsafeRawBufferPointer?
    {
        property.map { $0.value(in: cbor) } ?? cbor
    }

    static func absence(_ property: KeyProperty?) -> String {
        "there is no property \"\(property?.name ?? "")\""
    }

    private static func kind(of head: CBORHead) -> String {
        switch head {
        case .array: "an array"
        case .map: "an object"
        case .boolean: "a boolean"
        case .null: "null"
        case .bytes: "bytes"
        case .float(let number) where number == 0 && number.sign == .minus: "negative zero (-0)"
        case .float, .tag: "a number with a fraction or exponent"
        default: "of another type"
        }
    }
}
