/// A check of everything that must hold of an index between two operations. For tests and for `check`: it
/// needs the lock, or that nobody writes.
extension ArchiveEngine {
    /// One line for each broken invariant, at most some.
    func invariantViolations() -> [String] {
        var found: [String] = []
        let highWater = index.word32(IndexLayout.entryHighWaterOffset)
        guard kind != .log else { return [] }
        var live = Set<UInt32>()
        var setAside = Set<UInt32>()
        var values = 0
        var frames = 0
        var liveFrames: [UInt32: UInt64] = [:]
        for number in 0..<highWater {
            guard let slot = index.entry(number + 1), slot.location != .none else { continue }
            frames += Int(slot.frameBytes)
            liveFrames[slot.location.segment, default: 0] +=
                1 << IndexLayout.liveCountShift + UInt64(slot.frameBytes)
            if slot.isSetAside {
                setAside.insert(number + 1)
                continue
            }
            live.insert(number + 1)
            values += Int(slot.valueBytes)
            if slot.location >= head { found.append("entry \(number + 1) names a frame behind the head") }
        }
        if live.count != entryCount { found.append("\(entryCount) entries counted, \(live.count) there") }
        if values != Int(valueBytes) { found.append("\(valueBytes) value bytes counted, \(values) there") }
        if frames != Int(index.word64(IndexLayout.liveFrameBytesOffset)) {
            found.append("live frame bytes are wrong")
        }
        for (segment, word) in liveFrames where index.liveFrames(ofSegment: segment) != word {
            found.append("the live frames of segment \(segment) are miscounted")
        }
        checkRecency(live, &found)
        checkBuckets(live, &found)
        if setAside != Set(index.setAsideNumbers()) || setAside.count != Int(index.setAsideCount) {
            found.append("the list of what is set aside has other entries than are marked")
        }
        checkFreeList(live.union(setAside), highWater, &found)
        return Array(found.prefix(10))
    }

    private func checkRecency(_ live: Set<UInt32>, _ found: inout [String]) {
        var seen = 0
        var previous: UInt32 = 0
        var stamp = UInt64.max
        var number = index.order.mostRecent
        while let slot = index.entry(number), seen <= live.count {
            if !live.contains(number) { found.append("the recency list has the free entry \(number)") }
            if slot.newer != previous { found.append("entry \(number) has the wrong neighbour") }
            if slot.recency > stamp { found.append("entry \(number) is out of order") }
            stamp = slot.recency
            previous = number
            number = slot.older
            seen += 1
        }
        if seen != live.count { found.append("the recency list has \(seen) of \(live.count) entries") }
        if index.order.leastRecent != previous { found.append("the recency list ends elsewhere") }
    }

    private func checkBuckets(_ live: Set<UInt32>, _ found: inout [String]) {
        var seen = Set<UInt32>()
        func meet(_ number: UInt32, in bucket: UInt32) {
            if !live.contains(number) { found.append("bucket \(bucket) has the free entry \(number)") }
            if !seen.insert(number).inserted { found.append("entry \(number) is in buckets twice") }
            if let slot = index.entry(number),
                index.bucketNumber(of: slot.tag, count: index.bucketCount) != bucket
            {
                found.append("entry \(number) is in the wrong bucket")
            }
        }
        for number in 0..<index.bucketCount {
            guard let bucket = index.bucket(number) else { continue }
            for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
                meet(bucket.number(place), in: number)
                let slot = index.entry(bucket.number(place))
                if let slot, Bucket.cell(of: slot, at: slot.location) != bucket.cell(place) {
                    found.append("a cell of bucket \(number) names another frame than its entry")
                }
            }
            var chained = bucket.overflow
            while let slot = index.entry(chained), seen.count <= live.count {
                meet(chained, in: number)
                chained = slot.chainNext
            }
        }
        if seen.count != live.count { found.append("buckets have \(seen.count) of \(live.count) entries") }
    }

    private func checkFreeList(_ live: Set<UInt32>, _ highWater: UInt32, _ found: inout [String]) {
        var free = 0
        var number = index.word32(IndexLayout.freeHeadOffset)
        while let slot = index.entry(number), free <= Int(highWater) {
            if live.contains(number) { found.append("entry \(number) is live and free") }
            free += 1
            number = slot.chainNext
        }
        if free + live.count != Int(highWater) {
            found.append("\(free) free and \(live.count) live of \(highWater)")
        }
    }
}

extension Archive {
    /// What is wrong with the index, under the lock; empty when all is well.
    package func invariantViolations() throws(StorageError) -> [String] {
        let engine = try engine()
        try engine.acquire()
        defer { engine.release() }
        engine.index.drainTouches(before: engine.index.stampsTaken)
        return engine.invariantViolations()
    }
}
