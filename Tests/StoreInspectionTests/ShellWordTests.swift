import Foundation
import StoreInspection
import TerminalKit
import TestSupport
import Testing

/// Regression: words were quoted by grapheme clusters, and a quote followed by a combining mark isn't a separate cluster: pasted
/// into a shell, the key `x'\u{301};touch PWNED;#` ran a command.
@Suite struct ShellWordTests {
    private static let parts = [
        "'", "'", "\u{301}", "\u{20dd}", "\"", "\\", ";", "touch PWNED", "#", "$(id)", "`id`", " ", "\n",
        "\r\n", "\t",
        "\u{1b}[31m", "\u{0}", "\u{202e}", "\u{200d}", "\u{fe0f}", "é", "東", "👩\u{200d}👧", "-", "!", "&&",
        "|", ">x", "*", "\u{9b}", "0", "7", "a", "$'", "\u{2028}", "%s", "~", "{a,b}",
    ]

    private static func hostileWords(_ count: Int) -> [String] {
        var random = SeededGenerator.announced("hostile words")
        return (0..<count).map { _ in
            (0..<Int.random(in: 0...8, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
                .joined()
        }.filter { !$0.utf8.contains(0) }
    }

    /// The words as the shell reads them.
    private func words(_ quoted: [String], by shell: String, in folder: URL) throws -> [[UInt8]] {
        let script = quoted.map { "printf '%s\\0' \($0)" }.joined(separator: "\n")
        let output = folder.appendingPathComponent("output").path
        try Data(script.utf8).write(to: folder.appendingPathComponent("script"))
        let process = try ChildProcess(
            shell, ["-c", "cd '\(folder.path)' && . ./script"],
            streams: [1: .writing(output), 2: .writing("/dev/null")])
        process.waitForEnd()
        #expect(process.status == 0)
        var words = try Data(contentsOf: URL(fileURLWithPath: output)).split(
            separator: 0, omittingEmptySubsequences: false)
        #expect(words.popLast()?.isEmpty == true)
        return words.map(Array.init)
    }

    @Test(arguments: ["/bin/sh", "/bin/bash"])
    func shellsReadSameBytes(shell: String) throws {
        guard FileManager.default.isExecutableFile(atPath: shell) else { return }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "words-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let given =
            ["x'\u{301};touch PWNED;#", "\n'\u{301};touch PWNED;#", "\u{301}'"]
            + ShellWordTests.hostileWords(500)
        let quoted = given.map(ShellWord.quoted)
        let knowsDollar = try words(["$'\\101'"], by: shell, in: folder) == [Array("A".utf8)]
        let read = try words(quoted, by: shell, in: folder)
        for ((word, quoted), read) in zip(zip(given, quoted), read) {
            // A shell without $'…' reads a dollar and a quoted text, and runs nothing.
            let isSpelled = quoted.hasPrefix("$'") && !knowsDollar
            let expected =
                isSpelled ? Array("$".utf8) + Array(quoted.utf8.dropFirst(2).dropLast()) : Array(word.utf8)
            #expect(read == expected, "\(word.debugDescription) as \(quoted.debugDescription)")
            #expect(
                quoted.allSatisfy(TerminalText.isHarmless),
                "\(quoted.debugDescription) is not shown completely")
        }
        #expect(read.count == given.count)
        #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("PWNED").path))
    }

    /// In a key that begins with a dash and a combining mark, Swift's first character isn't a dash, but the argument parser reads
    /// an option.
    @Test func keysAreNotOptions() {
        #expect(
            ShellWord.vellum("rm", ["A", "-\u{301}-all"], options: ["--dry-run"], store: "/s")
                == "vellum --store /s rm --dry-run -- A '-\u{301}-all'")
        #expect(ShellWord.vellum("ls", store: "-s") == "vellum --store ./-s ls")
    }
}
