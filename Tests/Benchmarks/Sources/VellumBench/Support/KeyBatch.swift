/// The keys of a series of operations in order, as the strings that Vellum takes and the bytes that others take. Built before
/// the clock starts and read in sequence, so that no system's time includes building its keys.
final class KeyBatch {
    /// Every key is two letters and ten digits.
    static let keyBytes = 12

    let ids: [Int]
    let strings: [String]
    /// Whether reads include each of a value's cache lines; else its first and last byte.
    let readsWhole: Bool
    private let bytes: UnsafeMutableRawPointer

    var count: Int { ids.count }

    init(_ ids: [Int], readsWhole: Bool = false) {
        self.ids = ids
        self.readsWhole = readsWhole
        strings = ids.map(KeyBatch.key)
        bytes = .allocate(byteCount: max(1, ids.count * KeyBatch.keyBytes), alignment: 16)
        for (place, string) in strings.enumerated() {
            (bytes + place * KeyBatch.keyBytes).copyMemory(
                from: Array(string.utf8), byteCount: KeyBatch.keyBytes)
        }
    }

    deinit { bytes.deallocate() }

    @inline(__always)
    func pointer(_ place: Int) -> UnsafeMutableRawPointer { bytes + place * KeyBatch.keyBytes }

    private static func key(_ id: Int) -> String {
        let digits = String(id)
        return "k:" + String(repeating: "0", count: keyBytes - 2 - digits.utf8.count) + digits
    }
}

/// Values to store: random bytes, different for neighboring keys and for each generation of a key's value, from a pool that
/// fits into the processor's cache.
final class ValuePool {
    let valueBytes: Int
    private static let places = 1 << 16
    private let bytes: UnsafeMutableRawPointer

    init(valueBytes: Int, seed: UInt64) {
        self.valueBytes = valueBytes
        let size = ValuePool.places + valueBytes
        bytes = .allocate(byteCount: size, alignment: 16)
        var random = SeededGenerator(seed: seed)
        for place in 0..<size {
            bytes.storeBytes(
                of: UInt8.random(in: 0...255, using: &random), toByteOffset: place, as: UInt8.self)
        }
    }

    deinit { bytes.deallocate() }

    @inline(__always)
    func pointer(_ id: Int, generation: Int) -> UnsafeMutableRawPointer {
        bytes + ((id &* 193 &+ generation &* 7919) & (ValuePool.places - 1))
    }
}

/// The value's contribution to a sum that must be equal for all systems, which proves that each reads as much.
@inline(__always)
func digest(_ value: UnsafeRawBufferPointer) -> UInt64 {
    guard let first = value.first, let last = value.last else { return 0 }
    return UInt64(value.count) &+ UInt64(first) << 16 &+ UInt64(last) << 32
}

extension KeyBatch {
    @inline(__always)
    func digest(_ value: UnsafeRawBufferPointer) -> UInt64 {
        var sum = vellum_bench.digest(value)
        if readsWhole {
            for place in stride(from: 0, to: value.count, by: 64) { sum &+= UInt64(value[place]) << 8 }
        }
        return sum
    }
}
