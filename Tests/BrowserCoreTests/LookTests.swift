import BrowserCore
import Testing
import TerminalKit

struct LookTests {
    @Test func look() throws {
        for (c, r) in [(120, 30), (80, 24), (40, 10), (20, 5)] {
            for keys in ["j", "j<enter>?", "j<enter>:so", "j<enter>mmmD", "j<enter>/ka", "j<enter>/ka<enter>ss","j<enter>c"] {
                let clock = TestClock()
                let s = Fixture.source()
                var b = try Fixture.browser(s, columns: c, rows: r, look: c == 120 ? Fixture.ascii : Fixture.unicode,clock: clock)
                if keys == "j" { for i in 0..<40 { clock.advance(1); s.with { $0.summaries["City"]!.counters.hits += UInt64(50 + i * 7 % 23); $0.summaries["City"]!.counters.misses += UInt64(i % 9); $0.summaries["City"]!.counters.evictions += UInt64(i % 5 * 12)}; b.refresh() } }
                b.press(try Key.script(keys))
                print("=== \(c)x\(r) \(keys)"); print(b.frame.plainText)
            }
            for st in [true, false] {
            let s = Fixture.source()
            if st { s.with { $0.stores = [] } }
            print("=== \(c)x\(r) stores"); print(try Fixture.browser(s, columns: c, rows: r, store: nil).frame.plainText)
            }
        }
    }
}
