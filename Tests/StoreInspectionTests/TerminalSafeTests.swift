import StoreInspection
import TestSupport
import Testing

@Suite struct TerminalSafeTests {
    @Test func escapesLineEnds() {
        #expect(
            TerminalSafe.column("a\tb\r\nc\u{2028}é\u{1b}[m\u{85}") == "a\\tb\\r\\nc\\u{2028}é\\e[m\\u{85}")
        #expect(TerminalSafe.column("東京 'ü'") == "東京 'ü'")
    }

    /// Regression: a text of a megabyte with many lines took minutes, as each escape copied the text before it.
    @Test func timeIsLinear() {
        func cost(_ lines: Int) -> Double {
            let text = String(repeating: "\r\n", count: lines)
            let start = processorSeconds()
            #expect(TerminalSafe.column(text).utf8.count == 4 * lines)
            return processorSeconds() - start
        }
        // Quadratic time would be sixteen times as much.
        let (one, four) = (cost(25_000), cost(100_000))
        #expect(four < 10 * one + 0.5, "\(one) s and \(four) s")
    }
}
