import Foundation
import Testing

@Suite("demo without the browser")
struct DemoWithoutBrowserTests {
    /// On a terminal, where it would open the browser.
    @Test func endsAfterSeconds() throws {
        let folder = TemporaryFolder()
        let (status, text) = try PseudoTerminal.run(
            "demo --no-browse --seconds 1", environment: ["TMPDIR": folder.path])
        #expect(status == 0, "\(text)")
        // No alternate screen; the figures are readable lines.
        #expect(!text.contains("\u{1b}[?1049h"))
        let lines = text.replacing("\r\n", with: "\n").split(separator: "\n")
        let figures = lines.filter { $0.contains("\t") }.map { $0.prefix { $0 != "\t" } }
        #expect(figures.first == "seconds" && figures.contains("hitRatio"), "\(text)")
        let seconds = try #require(lines.first { $0.hasPrefix("seconds\t") }?.split(separator: "\t").last)
        #expect(try #require(Double(seconds)) >= 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
