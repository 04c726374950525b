package enum StoppableSort {
    package static let run = 16_384

    /// Sorts stably: sorted runs are merged pairwise. `checkpoint` gets the share done, 0 to 1, and may throw to stop, which
    /// leaves the elements in an unspecified order.
    package static func sort<Element, Stop: Error>(
        _ elements: inout [Element], by isOrdered: (Element, Element) -> Bool,
        checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) {
        let count = elements.count
        var passes = 1
        var width = run
        while width < count {
            width *= 2
            passes += 1
        }
        var start = 0
        while start < count {
            try checkpoint(Double(start) / Double(count) / Double(passes))
            let end = min(start + run, count)
            elements[start..<end].sort(by: isOrdered)
            start = end
        }
        width = run
        var pass = 1
        while width < count {
            var merged: [Element] = []
            merged.reserveCapacity(count)
            var start = 0
            while start < count {
                try checkpoint((Double(pass) + Double(start) / Double(count)) / Double(passes))
                let middle = min(start + width, count)
                let end = min(start + 2 * width, count)
                var left = start
                var right = middle
                while left < middle, right < end {
                    if isOrdered(elements[right], elements[left]) {
                        merged.append(elements[right])
                        right += 1
                    } else {
                        merged.append(elements[left])
                        left += 1
                    }
                }
                merged.append(contentsOf: elements[left..<middle])
                merged.append(contentsOf: elements[right..<end])
                start = end
            }
            elements = merged
            width *= 2
            pass += 1
        }
    }
}
