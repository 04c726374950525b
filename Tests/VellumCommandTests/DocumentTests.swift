import Foundation
import Testing

@Suite("man page and completions")
struct DocumentTests {
    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }
            let names: [Name]?
            let allValues: [String]?
            let allValueDescriptions: [String: String]?
            let defaultValue: String?
        }
        let commandName: String
        let shouldDisplay: Bool
        let arguments: [Argument]?
        let subcommands: [Command]?

        var options: [String] {
            let names = (arguments ?? []).flatMap { $0.names ?? [] }
            return names.filter { $0.kind == "long" }.map(\.name)
        }
    }

    private struct Dump: Decodable { let command: Command }

    /// The commands according to the argument parser.
    private func commands() throws -> [Command] {
        let dump = try Vellum.run(["--experimental-dump-help"]).output
        let root = try JSONDecoder().decode(Dump.self, from: dump).command
        return (root.subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
    }

    private func asset(_ name: String) throws -> String {
        try String(contentsOf: Vellum.root.appendingPathComponent("Assets/\(name)"), encoding: .utf8)
    }

    /// The options under each command of the page.
    private func described(in page: String) throws -> [String: Set<String>] {
        let sections = page.components(separatedBy: "\n.Sh ")
        let commands = try #require(sections.first { $0.hasPrefix("COMMANDS\n") })
        var options: [String: Set<String>] = [:]
        for item in commands.components(separatedBy: "\n.It Cm ").dropFirst() {
            let words = item.split { $0 == " " || $0 == "\n" }.map(String.init)
            var named: Set<String> = []
            for (place, word) in words.enumerated().dropFirst() where word.hasPrefix("-") {
                guard words[place - 1] == "Fl" else { continue }
                named.insert(String(word.dropFirst()))
                // `get --json|--raw|--hex` is written as one group.
                var next = place + 1
                while next + 1 < words.count, words[next] == "|", words[next + 1] != "Fl" {
                    named.insert(words[next + 1])
                    next += 2
                }
            }
            options[words[0], default: []].formUnion(named)
        }
        return options
    }

    /// An option belongs to the entry of its command, as others may have one of the same name.
    @Test func manPageIsComplete() throws {
        let page = try asset("man/vellum.1")
        let described = try described(in: page)
        let commands = try commands()
        #expect(commands.count == 36)
        #expect(described.keys.sorted() == commands.map(\.commandName).sorted())
        // Options of all commands are described before them.
        let common: Set = ["help", "version", "store"]
        let before = try #require(page.components(separatedBy: "\n.Sh COMMANDS").first)
        for option in common { #expect(before.contains("Fl -\(option)"), "--\(option)") }
        for command in commands {
            let missing = Set(command.options).subtracting(common)
                .subtracting(described[command.commandName] ?? [])
            #expect(missing.isEmpty, "\(command.commandName): \(missing.sorted())")
        }
        let known = Set(commands.flatMap(\.options)).union(["help", "version"])
        let words = page.split { $0 == " " || $0 == "\n" }
        for (word, next) in zip(words, words.dropFirst()) where word == "Fl" && next.hasPrefix("-") {
            #expect(known.contains(String(next.dropFirst())), "--\(next.dropFirst())")
        }
        // The first line of an entry has only options of that command.
        for line in page.split(separator: "\n") where line.hasPrefix(".It Cm ") {
            let words = line.split(separator: " ").dropFirst(2)
            guard let command = commands.first(where: { $0.commandName == words.first.map(String.init) })
            else { continue }
            for (word, next) in zip(words, words.dropFirst()) where word == "Fl" && next.hasPrefix("-") {
                #expect(command.options.contains(String(next.dropFirst())), "\(line)")
            }
        }
    }

    @Test func helpListsValidValues() throws {
        for command in try commands() {
            for argument in command.arguments ?? [] {
                guard let values = argument.allValues, let usual = argument.defaultValue else { continue }
                #expect(values.contains(usual), "\(command.commandName)")
                #expect(argument.allValueDescriptions == nil, "\(command.commandName)")
            }
        }
        let words = try Vellum.run(["keys", "--help"]).text.split { $0 == " " || $0 == "\n" }
        #expect(
            words.joined(separator: " ").contains(
                "(values: key, size, tier, recency, created, expires, hits, owner, eviction; default: recency)"
            ))
    }

    @Test func versionsAgree() throws {
        let version = try Vellum.run(["--version"]).text.prefix { $0.isNumber || $0 == "." }
        #expect(version.split(separator: ".").count == 3)
        let formula = try asset("homebrew/vellum.rb")
        #expect(formula.contains("\n  version \"\(version)\"\n"), "\(version)")
        for archive in formula.matches(of: /vellum-(\d+\.\d+\.\d+)\.tar/) {
            #expect(archive.output.1 == version)
        }
        let newest = try asset("CHANGELOG.md").split(separator: "\n").first { $0.hasPrefix("## ") }
        #expect(newest == "## \(version)")
        // The Debian package reads it there.
        let source = try String(
            contentsOf: Vellum.root.appendingPathComponent("Sources/VellumCommand/Run/Version.swift"),
            encoding: .utf8)
        #expect(source.contains("static let number = \"\(version)\""))
        let doctor = try JSON.array(Vellum.run(["doctor", "--json", "--store", "/nonexistent"]).output)
        let finding = doctor.first { $0["subject"] as? String == "version" }?["finding"] as? String
        #expect(finding?.hasPrefix(version) == true)
    }

    /// Generated by `vellum --generate-completion-script SHELL > Assets/completions/FILE`.
    @Test(arguments: [("bash", "vellum.bash"), ("zsh", "_vellum"), ("fish", "vellum.fish")])
    func completionsAreCurrent(shell: String, file: String) throws {
        let made = try Vellum.run(["--generate-completion-script", shell]).expect(0)
        let path = Vellum.root.appendingPathComponent("Assets/completions/\(file)")
        #expect(
            try Data(contentsOf: path) == made.output,
            "run: vellum --generate-completion-script \(shell) > Assets/completions/\(file)")
    }
}
