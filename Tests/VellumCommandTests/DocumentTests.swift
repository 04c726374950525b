import Foundation
import Testing

@Suite("The man page and the completions tell of what there is")
struct DocumentTests {
    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }
            let names: [Name]?
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

    /// What the argument parser itself knows.
    private func commands() throws -> [Command] {
        let dump = try Vellum.run(["--experimental-dump-help"]).output
        let root = try JSONDecoder().decode(Dump.self, from: dump).command
        return (root.subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
    }

    @Test func theManPageNamesEveryCommandAndOptionAndNoOther() throws {
        let path = Vellum.root.appendingPathComponent("Assets/man/vellum.1")
        let page = try String(contentsOf: path, encoding: .utf8)
        let commands = try commands()
        #expect(commands.count == 35)
        for command in commands {
            #expect(page.contains(".It Cm \(command.commandName) "), "\(command.commandName)")
            // `get --json|--raw|--hex` is written as one group.
            for option in command.options {
                #expect(page.contains("Fl -\(option)") || page.contains("| \(option)"), "--\(option)")
            }
        }
        let known = Set(commands.flatMap(\.options)).union(["help", "version"])
        let words = page.split { $0 == " " || $0 == "\n" }
        for (word, next) in zip(words, words.dropFirst()) where word == "Fl" && next.hasPrefix("-") {
            #expect(known.contains(String(next.dropFirst())), "--\(next.dropFirst())")
        }
    }

    /// They are made with `vellum --generate-completion-script SHELL > Assets/completions/FILE`.
    @Test(arguments: [("bash", "vellum.bash"), ("zsh", "_vellum"), ("fish", "vellum.fish")])
    func completionsAreThoseThatTheProgramMakes(shell: String, file: String) throws {
        let made = try Vellum.run(["--generate-completion-script", shell])
        #expect(made.status == 0)
        let path = Vellum.root.appendingPathComponent("Assets/completions/\(file)")
        #expect(
            try Data(contentsOf: path) == made.output,
            "run: vellum --generate-completion-script \(shell) > Assets/completions/\(file)")
    }
}
