import CacheSimulation
import StorageEngine

extension ArchiveAdvice {
    /// A limit as a multiple of another: `1/4`, `2x`.
    package static func multiple(_ limit: Int, of present: Int) -> String {
        let isSmaller = limit < present
        let ratio = Double(max(1, isSmaller ? present : limit)) / Double(max(1, isSmaller ? limit : present))
        // A sixteenth of a few bytes is rounded.
        let factor = Figures.decimal(ratio, digits: ratio < 9.95 ? 1 : 0)
        return isSmaller ? "1/\(factor)" : "\(factor)x"
    }

    /// A limit as a multiple of the current one; empty for the current limit.
    package func multiple(_ limit: Int) -> String {
        limit == Int(clamping: self.limit) ? "" : Self.multiple(limit, of: Int(clamping: self.limit))
    }

    /// The recommendation in one sentence.
    package var sentence: String {
        guard let advice else {
            let start = isAfterChange ? " since the change of limit or policy" : ""
            return
                "Too few requests yet: \(Figures.count(reads)) of \(Figures.count(Self.leastReads)) sampled reads\(start)."
        }
        let ratios = "hit ratio \(Figures.percent(advice.now)) -> \(Figures.percent(advice.after))"
        switch advice.change {
        case .raiseLimit(let limit):
            return "Raise the limit to \(Figures.bytes(UInt64(limit))): \(ratios)."
        case .changePolicy(let policy):
            return "Change the policy to \(policy.title): \(ratios), at the same limit."
        case .lowerLimit(let limit):
            return "A limit of \(Figures.bytes(UInt64(limit))) is enough: \(ratios)."
        case .keep:
            return "Keep limit and policy: no other that the archive can have is much better."
        }
    }

    /// The arguments of `vellum resize` that apply the recommendation; nil if it recommends no change.
    package var resizeOptions: String? {
        switch advice?.change {
        case .raiseLimit(let limit), .lowerLimit(let limit): "--disk \(limit)"
        case .changePolicy(let policy): "--policy \(policy.rawValue)"
        case .keep, nil: nil
        }
    }

    /// The recommended policy; nil if the recommendation keeps the policy.
    package var recommendedPolicy: EvictionPolicy? {
        guard case .changePolicy(let policy)? = advice?.change else { return nil }
        return EvictionPolicy.allCases.first { CachePolicy($0) == policy }
    }

    /// SIEVE evicts most new entries a few insertions after their own, at any limit, and a simulated insertion stands for several.
    package static let remarkOnSIEVE =
        "SIEVE is simulated too high at small limits, because only some keys are sampled."

    /// Why the figures may be wrong; nil if the simulation agrees with the archive.
    package var doubt: String? {
        guard let advice, abs(advice.now - measured) > 0.05 else { return nil }
        return "The simulation differs from the archive (\(Figures.percent(advice.now)) instead of "
            + "\(Figures.percent(measured)) at the current limit), so the other figures are rough estimates."
    }

    /// Limit, policy, hit ratios and the sample, in one line.
    package var summary: String {
        let simulated = advice.map { ", simulated \(Figures.percent($0.now))" } ?? ""
        let keys = rate < 1 ? "1/\(Figures.decimal(1 / max(rate, 1e-9), digits: 1)) of the keys" : "all keys"
        let measured = reads > 0 ? "measured \(Figures.percent(measured))" : "no reads yet"
        let since = since.map { ", recorded since \(Figures.date($0))" } ?? ""
        return
            "limit \(Figures.bytes(limit)), \(policy.title): \(measured)\(simulated); "
            + "\(Figures.count(reads, "sampled read", "sampled reads")) of the last \(Figures.duration(seconds)) (\(keys))\(since)"
    }

    /// The hit ratios at a simulated limit, with the change from the current limit and policy:
    /// `1.27 MB (2x): hit ratio LRU 90.1% (+57 hits/s), S3-FIFO 91% (+60)`.
    package func words(at limit: Int) -> String {
        let isPresent = multiple(limit).isEmpty
        var unit = " hits/s"
        let ratios = Self.policies.compactMap { policy -> String? in
            guard let ratio = hitRatio(policy, limit: limit) else { return nil }
            let words = "\(policy.title) \(Figures.percent(ratio))"
            guard !isPresent || policy != self.policy, let gain = gain(policy, limit: limit) else {
                return words
            }
            defer { unit = "" }
            let rate = Figures.rate(abs(gain))
            return words + " (\(rate == "0" ? "" : gain < 0 ? "-" : "+")\(rate)\(unit))"
        }
        return
            "\(Figures.bytes(UInt64(clamping: limit))) (\(isPresent ? "current" : multiple(limit)))"
            + (ratios.isEmpty ? "" : ": hit ratio " + ratios.joined(separator: ", "))
    }

    /// The TTLs after which expired entries were read, with their shares of the reads; nil without such reads.
    package var expiredWords: String? {
        guard !expired.isEmpty else { return nil }
        let times = expired.map {
            "\(Figures.percent($0.share)) after a TTL of \(Figures.duration($0.timeToLive))"
        }
        return "Reads of expired entries: " + times.joined(separator: ", ")
    }
}

extension CachePolicy {
    /// The simulated form of a policy of the engine.
    package init(_ policy: EvictionPolicy) {
        switch policy {
        case .lru: self = .lru
        case .s3fifo: self = .s3fifo
        }
    }

    /// The character that draws the policy's curve.
    package var letter: Character {
        switch self {
        case .lru: "L"
        case .s3fifo: "3"
        case .sieve: "S"
        case .wtinylfu: "W"
        case .opt: "O"
        }
    }
}

extension ArchiveAdvice.Group {
    /// Whether the group has much of the size, but few of the reads.
    package var isRarelyRead: Bool { size >= 0.1 && size >= 4 * reads }
}
