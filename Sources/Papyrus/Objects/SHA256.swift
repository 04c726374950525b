import Foundation
import StorageEngine

/// The digest of FIPS 180-4, for identifiers that don't fit into a key.
enum SHA256 {
    static func hexadecimal(of message: [UInt8]) -> String { digest(of: message).map(\.hexadecimal).joined() }

    private static func digest(of message: [UInt8]) -> [UInt32] {
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        let bits = UInt64(message.count) * 8
        padded += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) }

        var state = initial
        var schedule = [UInt32](repeating: 0, count: 64)
        for block in stride(from: 0, to: padded.count, by: 64) {
            for word in 0..<16 {
                schedule[word] = (0..<4).reduce(0) { $0 << 8 | UInt32(padded[block + word * 4 + $1]) }
            }
            for word in 16..<64 {
                let (early, late) = (schedule[word - 15], schedule[word - 2])
                let first = turned(early, 7) ^ turned(early, 18) ^ early >> 3
                let second = turned(late, 17) ^ turned(late, 19) ^ late >> 10
                schedule[word] = schedule[word - 16] &+ first &+ schedule[word - 7] &+ second
            }
            var now = state
            for round in 0..<64 {
                let (a, b, c, e, f, g) = (now[0], now[1], now[2], now[4], now[5], now[6])
                let choice = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
                let first = now[7] &+ choice &+ (e & f ^ ~e & g) &+ constants[round] &+ schedule[round]
                let second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) &+ (a & b ^ a & c ^ b & c)
                now = [first &+ second, a, b, c, now[3] &+ first, e, f, g]
            }
            state = zip(state, now).map { $0 &+ $1 }
        }
        return state
    }

    private static func turned(_ word: UInt32, _ bits: UInt32) -> UInt32 {
        word >> bits | word << (32 - bits)
    }

    private static let primes = [
        2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101,
        103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199,
        211, 223, 227, 229, 233, 239, 241, 251, 257, 263, 269, 271, 277, 281, 283, 293, 307, 311,
    ].map { Double($0) }

    /// The first 32 bits of a root's fraction; a double has at least 49.
    private static func fraction(_ root: Double) -> UInt32 { UInt32((root - root.rounded(.down)) * 0x1p32) }

    private static let initial = primes.prefix(8).map { fraction($0.squareRoot()) }
    private static let constants = primes.map { fraction(cbrt($0)) }
}
