/// Changes an input like fuzzers without coverage.
package enum Mutator {
    private static let telling: [UInt8] = [0, 1, 2, 7, 8, 0x20, 0x22, 0x3f, 0x40, 0x7f, 0x80, 0xfe, 0xff]

    package static func mutate(_ input: [UInt8], using random: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            let count = min(bytes.count - place, Int.random(in: 1...16, using: &random))
            switch Int.random(in: 0..<7, using: &random) {
            case 0 where count > 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1 where count > 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2 where count > 0: bytes[place] = telling.randomElement(using: &random) ?? 0
            case 3: bytes.removeSubrange(place..<place + count)
            case 4:
                bytes.insert(
                    contentsOf: bytes[place..<place + count], at: Int.random(in: 0...place, using: &random))
            case 5 where count > 0: bytes[place] &+= UInt8.random(in: 0...8, using: &random) &- 4
            default: bytes.insert(telling.randomElement(using: &random) ?? 0, at: place)
            }
        }
        return bytes
    }
}
