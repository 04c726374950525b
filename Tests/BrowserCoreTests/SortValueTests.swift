import ArchiveQuery
import CBOR
import StoreInspection
import Testing

/// The order of values in queries, results and entries.
struct SortValueTests {
    private static func decimal(_ text: String) -> SortValue {
        .number(NumberValue(DecimalNumber(text: text.utf8)))
    }

    private static let values: [SortValue] = [
        .boolean(false), .boolean(true), .text("a"), .text("b"), .absent, .date(0),
        .number(.integer(-1)), .number(.float(0.1)), decimal("0.1000000000000000001"),
        .number(.integer(9_007_199_254_740_992)), .number(.float(9_007_199_254_740_992)),
        .number(.integer(9_007_199_254_740_993)), .number(.float(9_223_372_036_854_777_856)),
        .number(.integer(9_223_372_036_854_777_900)), decimal("9223372036854777950.5"),
        .number(.float(1e23)), decimal("99999999999999999999999.5"), .number(.float(.infinity)),
    ]

    /// Regression: floats were compared with integers by value and with decimals by spelling, which isn't transitive, and results
    /// rounded integers.
    @Test(arguments: [false, true])
    func orderIsTotal(isDescending: Bool) {
        func order(_ left: SortValue, _ right: SortValue) -> Int {
            SortValue.compare(left, right, isDescending: isDescending).signum()
        }
        for a in Self.values {
            for b in Self.values {
                #expect(order(a, b) == -order(b, a), "\(a), \(b)")
                for c in Self.values where order(a, b) <= 0 && order(b, c) <= 0 {
                    #expect(order(a, c) <= 0, "\(a), \(b), \(c)")
                }
            }
        }
    }

    @Test func comparesCellsExactly() {
        let numbers = ["9007199254740993", "9007199254740992", "0.5", "-1e3", "1e400"]
        let sorted = numbers.sorted {
            SortValue.compare(Cell.number($0).sortValue, Cell.number($1).sortValue, isDescending: false) < 0
        }
        #expect(sorted == ["-1e3", "0.5", "9007199254740992", "9007199254740993", "1e400"])
        #expect(Cell.number("null").sortValue == .absent)
    }
}
