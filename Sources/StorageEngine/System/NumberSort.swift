/// Radix sort of positions by a number, with two passes for each digit that differs. Four times as fast as comparing, for stamps.
package enum NumberSort {
    private static let digitBits: UInt64 = 11
    private static let stretch = 1 << 16

    /// The positions of `numbers` in order; positions of equal numbers ascend. `checkpoint` gets the fraction done, and may throw.
    package static func positions<Stop: Error>(
        of numbers: [Int64], descending: Bool, checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) -> [Int32] {
        let mask: UInt64 = 1 << digitBits - 1
        // With the sign bit inverted, unsigned numbers have the order of signed ones; complements have the opposite order.
        let turned = descending ? UInt64.max >> 1 : 1 << 63
        func digit(_ number: Int64, _ shift: UInt64) -> Int {
            Int((UInt64(bitPattern: number) ^ turned) >> shift & mask)
        }
        var varying: UInt64 = 0
        if let first = numbers.first {
            for number in numbers { varying |= UInt64(bitPattern: number ^ first) }
        }
        let shifts = stride(from: 0, to: 64, by: Int(digitBits)).map { UInt64($0) }.filter {
            varying >> $0 & mask != 0
        }
        var order = (0..<Int32(clamping: numbers.count)).map { $0 }
        var next = shifts.isEmpty ? [] : order
        for (pass, shift) in shifts.enumerated() {
            var places = [Int](repeating: 0, count: Int(mask) + 1)
            for number in numbers { places[digit(number, shift)] += 1 }
            var sum = 0
            for value in places.indices { (places[value], sum) = (sum, sum + places[value]) }
            for begin in stride(from: 0, to: order.count, by: stretch) {
                try checkpoint((Double(pass) + Double(begin) / Double(order.count)) / Double(shifts.count))
                for position in order[begin..<min(begin + stretch, order.count)] {
                    let value = digit(numbers[Int(position)], shift)
                    next[places[value]] = position
                    places[value] += 1
                }
            }
            swap(&order, &next)
        }
        return order
    }

    static func positions(of numbers: [Int64], descending: Bool) -> [Int32] {
        positions(of: numbers, descending: descending) { (_) throws(Never) in }
    }

    /// Sorts in place by a number of each; equal ones keep their order. Takes 20 bytes an element temporarily.
    package static func sort<Element>(
        _ elements: inout [Element], descending: Bool, by number: (Element) -> Int64
    ) {
        var order = positions(of: elements.map(number), descending: descending)
        for start in order.indices where order[start] >= 0 {
            let first = elements[start]
            var place = start
            while true {
                let source = Int(order[place])
                order[place] = -1
                guard source != start else { break }
                elements[place] = elements[source]
                place = source
            }
            elements[place] = first
        }
    }
}
