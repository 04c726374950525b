import CacheSimulation

extension ArchiveAdvice {
    /// A limit as a multiple of another: `1/4`, `2x`.
    package static func multiple(_ limit: Int, of present: Int) -> String {
        let ratio = Double(limit) / Double(max(1, present))
        return ratio < 1
            ? "1/\(Figures.decimal(1 / ratio, digits: 1))" : "\(Figures.decimal(ratio, digits: 1))x"
    }

    /// The recommendation in one sentence.
    package var sentence: String {
        guard let advice else {
            return
                "Too few requests yet: \(Figures.count(reads)) of \(Figures.count(Self.leastReads)) sampled reads."
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
            return "Keep limit and policy: no other simulated one is much better."
        }
    }

    /// The arguments of `vellum resize` that apply the recommendation; nil if it is to keep everything.
    package var resizeOptions: String? {
        switch advice?.change {
        case .raiseLimit(let limit), .lowerLimit(let limit): "--disk \(limit)"
        case .changePolicy(let policy): "--policy \(policy.rawValue)"
        case .keep, nil: nil
        }
    }

    /// Why the figures may be wrong; nil if the simulation agrees with the archive.
    package var doubt: String? {
        guard let advice, abs(advice.now - measured) > 0.05 else { return nil }
        return "The simulation differs from the archive (\(Figures.percent(advice.now)) instead of "
            + "\(Figures.percent(measured)) at the present limit), so take the other figures as rough."
    }
}
