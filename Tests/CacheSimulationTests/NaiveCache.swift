import CacheSimulation

/// A cache as simple arrays, oldest entry first, to compare the simulated policies with. Every call is O(n).
struct NaiveCache {
    struct Entry {
        let key: UInt64
        var size: Int
        var frequency = 0
    }

    let policy: CachePolicy
    let limit: Int
    /// All entries; or small queue, main queue and ghosts; or window, probation and protected.
    private var queues: [[Entry]] = [[], [], []]
    private var hand: UInt64?
    private var counts: [UInt64: Int] = [:]
    private var requests = 0
    private var inserted: (count: Double, size: Double) = (0, 0)

    init(_ policy: CachePolicy, limit: Int) { (self.policy, self.limit) = (policy, limit) }

    private var cached: ArraySlice<[Entry]> { policy == .s3fifo ? queues[..<2] : queues[...] }
    private var used: Int { cached.joined().reduce(0) { $0 + $1.size } }
    func holds(_ key: UInt64) -> Bool { cached.joined().contains { $0.key == key } }
    private func total(_ queue: Int) -> Int { queues[queue].reduce(0) { $0 + $1.size } }

    mutating func access(_ key: UInt64, size: Int) {
        if holds(key) {
            touch(key)
            resize(key, size)
        } else if size > 0, size <= limit {
            insert(Entry(key: key, size: size))
        }
    }

    mutating func lookup(_ key: UInt64) { if holds(key) { touch(key) } }

    /// Stores the value of a missed read.
    mutating func update(_ key: UInt64, size: Int) {
        if holds(key) { resize(key, size) } else { access(key, size: size) }
    }

    mutating func remove(_ key: UInt64) {
        for (number, queue) in queues.enumerated() {
            guard let place = queue.firstIndex(where: { $0.key == key }) else { continue }
            if policy == .sieve, hand == key || hand == nil && place == 0 {
                hand = place + 1 < queue.count ? queue[place + 1].key : nil
            }
            queues[number].remove(at: place)
        }
    }

    private mutating func resize(_ key: UInt64, _ size: Int) {
        guard size <= limit else { return remove(key) }
        for (number, queue) in queues.enumerated() {
            if let place = queue.firstIndex(where: { $0.key == key }) { queues[number][place].size = size }
        }
        while used > limit { evict() }
    }

    private mutating func move(_ key: UInt64, to target: Int) {
        for (number, queue) in queues.enumerated() {
            guard let place = queue.firstIndex(where: { $0.key == key }) else { continue }
            queues[target].append(queues[number].remove(at: place))
            return
        }
    }

    private mutating func touch(_ key: UInt64) {
        switch policy {
        case .lru: move(key, to: 0)
        case .sieve, .s3fifo:
            for number in 0..<2 {
                guard let place = queues[number].firstIndex(where: { $0.key == key }) else { continue }
                queues[number][place].frequency = min(3, queues[number][place].frequency + 1)
            }
        case .wtinylfu:
            count(key)
            move(key, to: queues[0].contains { $0.key == key } ? 0 : 2)
            while total(2) > Int(Double(limit - window) * 0.8) { queues[1].append(queues[2].removeFirst()) }
        case .opt: break
        }
    }

    private mutating func insert(_ entry: Entry) {
        let isGhost = policy == .s3fifo && queues[2].contains { $0.key == entry.key }
        if isGhost { queues[2].removeAll { $0.key == entry.key } }
        if policy == .wtinylfu {
            inserted.count += 1
            inserted.size += Double(entry.size)
            count(entry.key)
        } else {
            while used + entry.size > limit { evict() }
        }
        queues[isGhost ? 1 : 0].append(entry)
        guard policy == .wtinylfu else { return }
        while total(0) > window { admit(queues[0].removeFirst()) }
        while used > limit { evict() }
    }

    private mutating func evict() {
        switch policy {
        case .lru, .opt: queues[0].removeFirst()
        case .sieve:
            var place = queues[0].firstIndex { $0.key == hand } ?? 0
            while queues[0][place].frequency > 0 {
                queues[0][place].frequency = 0
                place = (place + 1) % queues[0].count
            }
            hand = place + 1 < queues[0].count ? queues[0][place + 1].key : nil
            queues[0].remove(at: place)
        case .s3fifo:
            while !queues[0].isEmpty, total(0) >= limit / 10 || queues[1].isEmpty || isEvicting {
                isEvicting = true
                var entry = queues[0].removeFirst()
                let isAccessed = entry.frequency > 1
                entry.frequency = 0
                queues[isAccessed ? 1 : 2].append(entry)
                guard !isAccessed else { continue }
                while total(2) > limit - limit / 10 { queues[2].removeFirst() }
                isEvicting = false
                return
            }
            isEvicting = false
            while var entry = queues[1].first {
                queues[1].removeFirst()
                guard entry.frequency > 0 else { return }
                entry.frequency -= 1
                queues[1].append(entry)
            }
        case .wtinylfu:
            let queue = !queues[1].isEmpty ? 1 : !queues[2].isEmpty ? 2 : 0
            queues[queue].removeFirst()
        }
    }

    /// Whether the small queue is being emptied until an entry is evicted.
    private var isEvicting = false

    // W-TinyLFU

    private var window: Int { max(1, limit / 100) }

    private mutating func count(_ key: UInt64) {
        counts[key] = min(15, counts[key, default: 0] + 1)
        requests += 1
        if inserted.count > 0, Double(requests) * inserted.size >= 10 * Double(limit) * inserted.count {
            counts = counts.mapValues { $0 / 2 }
            requests /= 2
        }
    }

    private mutating func admit(_ candidate: Entry) {
        let needed = total(1) + total(2) + candidate.size - (limit - window)
        var (freed, sum, victims) = (0, 0, 0)
        for victim in queues[1] where freed < needed {
            freed += victim.size
            sum += counts[victim.key, default: 0]
            victims += 1
        }
        guard needed <= 0 || freed >= needed && counts[candidate.key, default: 0] > sum else { return }
        queues[1].removeFirst(victims)
        queues[1].append(candidate)
    }
}

/// Replays requests on ``NaiveCache``, or decides by looking ahead for the optimum.
enum NaiveReplay {
    private enum Action { case read, lookup, write, update, remove }

    static func hits(_ requests: [Request], _ policy: CachePolicy, limit: Int, unit: LimitUnit) -> Int {
        let steps = resolve(requests, unit)
        if policy == .opt { return optimum(steps, limit) }
        var cache = NaiveCache(policy, limit: limit)
        return steps.count { step in
            let isHit = [.read, .lookup].contains(step.action) && cache.holds(step.key)
            switch step.action {
            case .lookup: cache.lookup(step.key)
            case .read, .write: cache.access(step.key, size: step.size)
            case .update: cache.update(step.key, size: step.size)
            case .remove: cache.remove(step.key)
            }
            return isHit
        }
    }

    private static func resolve(
        _ requests: [Request], _ unit: LimitUnit
    ) -> [(key: UInt64, action: Action, size: Int)] {
        var sizes: [UInt64: Int] = [:]
        var expiries: [UInt64: Int64] = [:]
        var last: [UInt64: Request.Kind] = [:]
        var steps: [(key: UInt64, action: Action, size: Int)] = []
        for request in requests {
            let key = request.hash
            if request.kind == .deleteAll {
                steps += sizes.keys.map { ($0, .remove, 0) }
                (expiries, last) = ([:], [:])
                continue
            }
            if let expiry = expiries[key], expiry <= request.time {
                steps.append((key, .remove, 0))
                expiries[key] = nil
                last[key] = nil
            }
            let isFirst = sizes[key] == nil
            sizes[key] = request.size > 0 ? request.size : sizes[key, default: 0]
            let size = unit == .entries ? 1 : sizes[key, default: 0]
            switch request.kind {
            case .read, .hit: steps.append((key, .read, size))
            case .miss: steps.append((key, .lookup, size))
            case .write:
                let isRead = last[key] == .read || last[key] == .miss
                steps.append((key, isRead ? .update : .write, size))
            case .delete: steps.append((key, .remove, 0))
            case .expire: if isFirst { steps.append((key, .write, size)) }
            case .deleteAll: break
            }
            if !request.isRead || request.expiry != nil { expiries[key] = request.expiry }
            last[key] = request.kind
        }
        return steps
    }

    private static func optimum(_ steps: [(key: UInt64, action: Action, size: Int)], _ limit: Int) -> Int {
        var cached: [UInt64: Int] = [:]
        func next(_ key: UInt64, after place: Int) -> Int? {
            let use = steps[(place + 1)...].firstIndex { $0.key == key && $0.action != .update }
            return use.flatMap { [.read, .lookup].contains(steps[$0].action) ? $0 : nil }
        }
        var hits = 0
        for (place, step) in steps.enumerated() {
            let former = cached.removeValue(forKey: step.key)
            if [.read, .lookup].contains(step.action), former != nil { hits += 1 }
            let size = step.action == .lookup ? former ?? 0 : step.size
            guard step.action != .remove, size > 0, size <= limit, next(step.key, after: place) != nil
            else { continue }
            cached[step.key] = size
            while cached.values.reduce(0, +) > limit {
                let farthest = cached.keys.max { next($0, after: place) ?? 0 < next($1, after: place) ?? 0 }
                cached[farthest ?? 0] = nil
            }
        }
        return hits
    }
}
