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
        var stopped: Stop?
        // Only `checkpoint` throws. The standard sort rethrows its error without the type.
        try? elements.sort { left, right in
            if compared % 16_384 == 0 {
                do throws(Stop) {
                    try checkpoint(min(1, Double(compared) / usual))
                } catch {
                    stopped = error
                    throw error
                }
            }
            compared += 1
            return isOrdered(left, right)
        }
        if let stopped { throw stopped }
    }
}
