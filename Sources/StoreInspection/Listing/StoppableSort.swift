package enum StoppableSort {
    /// Sorts stably. `checkpoint` gets the share done, 0 to 1, and may throw to stop, which leaves the elements in an unspecified
    /// order.
    package static func sort<Element, Stop: Error>(
        _ elements: inout [Element], by isOrdered: (Element, Element) -> Bool,
        checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) {
        let count = elements.count
        let usual = Double(count * max(1, count.bitWidth - count.leadingZeroBitCount))
        var compared = 0
        do {
            try elements.sort { left, right in
                if compared % 16_384 == 0 { try checkpoint(min(1, Double(compared) / usual)) }
                compared += 1
                return isOrdered(left, right)
            }
        } catch {
            // Unreachable: only `checkpoint` throws.
            throw error as! Stop
        }
    }
}
