import Foundation
import TerminalKit

extension CurveGraph {
    /// - Parameter limits: ascending; their logarithms are the positions.
    package init(
        title: [Span], limits: [Int], labels: [String], curves: [Curve], topLabel: String
    ) {
        let scaled = limits.map { log2(Double(max(1, $0))) }
        let (first, last) = (scaled.first ?? 0, scaled.last ?? 0)
        let positions = scaled.map { last > first ? ($0 - first) / (last - first) : 0 }
        self.init(title: title, positions: positions, labels: labels, curves: curves, topLabel: topLabel)
    }
}
