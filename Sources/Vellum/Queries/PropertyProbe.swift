import CBOR
import Foundation

/// A property's encoded test value, also an unusual one, to reveal conversions; too small to overflow an `init(from:)`.
struct PropertyProbe {
    let value: AnyHashable
    let item: CBORValue

    static func probes(for type: any Any.Type) -> [PropertyProbe]? {
        switch type {
        case is String.Type: probes(texts)
        case is Bool.Type: probes([true, false])
        case let type as any (FixedWidthInteger & Codable).Type: integers(type)
        case is Double.Type: probes([0, 0.1, -1.5, 7, 1234.5, Double.random(in: -1e3...1e3)])
        case is Float.Type: probes([0, 0.5, -1.5, 7, 1234.5, Float.random(in: -1e3...1e3)])
        case is Date.Type: probes([0, -86_400.5, 1e9, 1.8e9 + 0.25].map(Date.init(timeIntervalSince1970:)))
        case is [String].Type: probes([[], texts, ["b", "a", "a"]])
        case is [Int].Type: probes([[], [1_000, -2, 0], [2, 1, 1]])
        case is [Double].Type: probes([[], [0.1, -1234.5], [2, 1, 1]])
        default: nil
        }
    }

    private static let texts = ["", " A b\u{e9}e\u{301} ", "\u{65e5}\u{672c}", "0", "null", "\u{0}", "Zz-9"]

    private static func integers<Number: FixedWidthInteger & Codable>(_: Number.Type) -> [PropertyProbe]? {
        // Small enough that a calculation doesn't overflow.
        let large = min(Number.max >> 4, Number(clamping: 1_000))
        let random = Number.random(in: 0...large)
        return probes([0, 1, 7, Number(clamping: -2), large, random] as [Number])
    }

    private static func probes<Value: Codable & Hashable>(_ values: [Value]) -> [PropertyProbe]? {
        let encoder = CBOREncoder()
        let probes = values.compactMap { value -> PropertyProbe? in
            guard let bytes = try? encoder.encode(value), let item = try? CBORReader.decode(bytes) else {
                return nil
            }
            return PropertyProbe(value: value, item: item)
        }
        return probes.count == values.count ? probes : nil
    }
}

protocol OptionalProperty {
    static var wrappedType: any Any.Type { get }
    var unwrapped: Any? { get }
}

extension Optional: OptionalProperty {
    static var wrappedType: any Any.Type { Wrapped.self }
    var unwrapped: Any? { self }
}
