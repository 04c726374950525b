import TestSupport
import CBOR

extension CBORValue {
    /// A value of any kind, with up to `depth` levels of containers below it.
    static func random(depth: Int, using generator: inout SeededGenerator) -> CBORValue {
        let kinds = depth > 0 ? 11 : 8
        switch Int.random(in: 0..<kinds, using: &generator) {
        case 0: return .unsigned(randomWord(using: &generator))
        case 1: return .negative(randomWord(using: &generator))
        case 2: return .bytes(randomBytes(using: &generator))
        case 3: return .text(randomText(using: &generator))
        case 4: return .float(Double(bitPattern: generator.next()))
        case 5: return .float(randomNarrowFloat(using: &generator))
        case 6: return [true, false, nil, .undefined].randomElement(using: &generator) ?? .undefined
        case 7:
            let simple = CBORSimpleValue(rawValue: UInt8.random(in: 0...255, using: &generator))
            return simple.map { .simple($0) } ?? .null
        case 8: return .array(randomItems(depth: depth, using: &generator))
        case 9:
            let keys = randomItems(depth: depth, using: &generator)
            return .map(
                CBORMap(keys.map { .init(key: $0, value: random(depth: depth - 1, using: &generator)) }))
        default:
            return .tagged(randomWord(using: &generator), random(depth: depth - 1, using: &generator))
        }
    }

    /// A number of any length in bits, so that all lengths of heads occur.
    static func randomWord(using generator: inout SeededGenerator) -> UInt64 {
        generator.next() >> UInt64.random(in: 0..<64, using: &generator)
    }

    /// Text of up to 40 characters from all of Unicode's planes, with quotes and controls among them.
    static func randomText(using generator: inout SeededGenerator) -> String {
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7e, 0...0x7f, 0x80...0x7ff, 0x800...0xd7ff, 0xe000...0xffff, 0x1_0000...0x10_ffff,
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...40, using: &generator) {
            let range = ranges.randomElement(using: &generator) ?? 0x20...0x7e
            if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) {
                text.append(scalar)
            }
        }
        return String(text)
    }

    private static func randomBytes(using generator: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...40, using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
    }

    private static func randomNarrowFloat(using generator: inout SeededGenerator) -> Double {
        let small = Double(Int.random(in: -100_000...100_000, using: &generator))
        return small / [1, 2, 1024, 1000].randomElement(using: &generator)!
    }

    private static func randomItems(depth: Int, using generator: inout SeededGenerator) -> [CBORValue] {
        (0..<Int.random(in: 0...30 / (4 - min(depth, 3)), using: &generator)).map { _ in
            random(depth: depth - 1, using: &generator)
        }
    }
}
