/// Belady's optimum, which needs all later requests: evicts the entry whose next read is latest, or doesn't add the new one. If
/// sizes differ, this is only a heuristic: another policy may have more hits.
enum OptimalPolicy {
    private struct Use {
        let next: Int
        let key: UInt32
    }

    /// The number of reads from `start` on that hit. Cost: O(log n) per step.
    static func hits(_ steps: [Step], limit: Int, from start: Int, withPrior: Bool) -> Int {
        let nextReads = nextReads(steps)
        var cached = [Int](repeating: 0, count: keyCount(steps))
        var next = [Int](repeating: 0, count: cached.count)
        var uses = Heap()
        var used = 0
        var hits = 0
        for (place, step) in steps.enumerated() where withPrior || step.action != .prior {
            let key = Int(step.key)
            if place >= start, step.isCounted, cached[key] > 0 { hits += 1 }
            let stored = step.action == .lookup ? cached[key] : step.action == .remove ? 0 : step.size
            let size = stored <= limit && nextReads[place] < Int.max ? stored : 0
            used += size - cached[key]
            cached[key] = size
            next[key] = nextReads[place]
            if size > 0 { uses.push(Use(next: nextReads[place], key: step.key)) }
            while used > limit, let use = uses.pop() {
                let victim = Int(use.key)
                // The heap also contains earlier accesses of the key.
                guard cached[victim] > 0, next[victim] == use.next else { continue }
                used -= cached[victim]
                cached[victim] = 0
            }
        }
        return hits
    }

    private static func keyCount(_ steps: [Step]) -> Int { steps.reduce(0) { max($0, Int($1.key) + 1) } }

    /// For each step, the index of the next read of its key; `Int.max` if a write or removal of the key precedes that read.
    private static func nextReads(_ steps: [Step]) -> [Int] {
        var next = [Int](repeating: Int.max, count: steps.count)
        var upcoming = [Int](repeating: Int.max, count: keyCount(steps))
        for place in steps.indices.reversed() {
            let key = Int(steps[place].key)
            next[place] = upcoming[key]
            switch steps[place].action {
            case .read, .lookup: upcoming[key] = place
            case .write, .remove: upcoming[key] = Int.max
            case .prior: upcoming[key] = Int.max
            // The preceding read has already added the key.
            case .update: break
            }
        }
        return next
    }

    /// A max-heap of accesses: the latest next read is first.
    private struct Heap {
        private var uses: [Use] = []

        mutating func push(_ use: Use) {
            var place = uses.count
            uses.append(use)
            while place > 0, uses[(place - 1) / 2].next < use.next {
                uses[place] = uses[(place - 1) / 2]
                place = (place - 1) / 2
            }
            uses[place] = use
        }

        mutating func pop() -> Use? {
            guard let first = uses.first, let last = uses.popLast() else { return nil }
            guard !uses.isEmpty else { return first }
            var place = 0
            while place * 2 + 1 < uses.count {
                var child = place * 2 + 1
                if child + 1 < uses.count, uses[child + 1].next > uses[child].next { child += 1 }
                guard uses[child].next > last.next else { break }
                uses[place] = uses[child]
                place = child
            }
            uses[place] = last
            return first
        }
    }
}
