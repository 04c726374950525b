import Foundation
import Testing

/// What a shell offers for a word comes from the program, which looks into the store.
@Suite("completions in a shell")
struct CompletionTests {
    let store: TestStore

    init() throws {
        store = try TestStore()
        for key in ["apple", "apricot", "banana", "pear\nshaped"] {
            try store.done("put", "Fruit", key, "--owner", "own-\(key.prefix(1))", input: "1")
        }
        try store.done("put", "Fish", "cod", "--owner", "sea", input: "1")
    }

    /// As the scripts ask: what is to be completed, the place of the last word, and that of the cursor in it.
    private func ask(
        _ argument: String, _ words: String..., environment: [String: String]? = nil
    ) throws -> Vellum.Result {
        let (command, last) = (words[0], words[words.count - 1])
        return try Vellum.run(
            ["---completion", command, "--", argument, "\(words.count)", "\(last.count)", "vellum"] + words,
            environment: environment ?? ["VELLUM_STORE": store.path])
    }

    @Test func archivesAreOffered() throws {
        #expect(try ask("positional@0", "keys", "").lines.sorted() == ["Fish", "Fruit"])
        #expect(try ask("positional@0", "keys", "Fr").lines == ["Fruit"])
        #expect(try ask("positional@0", "drop", "x").lines.isEmpty)
    }

    /// Those of the archive that the line names; what a shell would take for two words is left out.
    @Test func keysAreOffered() throws {
        #expect(try ask("positional@1", "get", "Fruit", "").lines.sorted() == ["apple", "apricot", "banana"])
        #expect(try ask("positional@1", "get", "Fruit", "ap").lines.sorted() == ["apple", "apricot"])
        #expect(try ask("positional@1", "rm", "Fruit", "apple", "b").lines == ["banana"])
        #expect(try ask("positional@1", "ttl", "Fish", "").lines == ["cod"])
        #expect(try ask("positional@1", "get", "None", "").lines.isEmpty)
    }

    @Test func ownersAreOffered() throws {
        #expect(
            try ask("--owner", "keys", "Fruit", "--owner", "").lines.sorted() == ["own-a", "own-b", "own-p"])
        #expect(try ask("--owner", "rm", "Fruit", "--owner", "own-b").lines == ["own-b"])
        #expect(try ask("--owner", "expire", "Fish", "--owner", "").lines == ["sea"])
    }

    /// The store that the line names goes before that of the environment; without any there is nothing to offer.
    @Test func theStoreIsThatOfTheLine() throws {
        let other = try TestStore()
        try other.done("put", "Stone", "granite", input: "1")
        let environment = ["VELLUM_STORE": other.path]
        for words in [["--store", store.path], ["-s", store.path], ["--store=" + store.path]] {
            let line = ["vellum"] + words + ["get", "Fruit", "ap"]
            let result = try Vellum.run(
                ["---completion", "get", "--", "positional@1", "\(line.count - 1)", "2"] + line,
                environment: environment)
            #expect(result.lines.sorted() == ["apple", "apricot"], "\(words)")
        }
        #expect(try ask("positional@0", "get", "", environment: environment).lines == ["Stone"])
        let none = try ask("positional@0", "get", "", environment: ["HOME": store.folder / "home"])
        #expect(none.status == 0 && none.lines.isEmpty)
    }

    /// A word on standard error would stand in the middle of the line that somebody is typing.
    @Test func nothingIsSaidMeanwhile() throws {
        #expect(try ask("positional@0", "keys", "").errors.isEmpty)
        #expect(try ask("--owner", "keys", "Fruit", "--owner", "").errors.isEmpty)
        let missing = ["VELLUM_STORE": store.folder / "none"]
        #expect(try ask("positional@1", "get", "Fruit", "", environment: missing).errors.isEmpty)
    }

    // MARK: The scripts

    private static func script(_ name: String) -> String {
        Vellum.root.appendingPathComponent("Assets/completions/\(name)").path
    }

    private static func isInstalled(_ shell: String) throws -> Bool {
        try Vellum.shell("command -v \"$1\"", shell).status == 0
    }

    @Test(arguments: [("bash", "vellum.bash"), ("zsh", "_vellum"), ("fish", "vellum.fish")])
    func theScriptIsOneThatTheShellUnderstands(shell: String, file: String) throws {
        guard try Self.isInstalled(shell) else { return }
        let result = try Vellum.shell("\"$1\" -n \"$2\"", shell, Self.script(file))
        #expect(result.status == 0 && result.text.isEmpty && result.errors.isEmpty, "\(result.errors)")
    }

    /// From the key that is pressed to the words that are offered.
    @Test func bashOffersWhatIsInTheStore() throws {
        guard try Self.isInstalled("bash") else { return }
        let asking = """
            shopt -s extglob
            source "$1"
            ask() {
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
                COMPREPLY=()
                _vellum "$1" "${@: -1}" "${@: -2:1}" 2>/dev/null
                echo "${COMPREPLY[*]}"
            }
            export VELLUM_STORE="$2"
            ask "$0" ke
            ask "$0" keys F
            ask "$0" get Fruit ap
            ask "$0" keys Fruit --owner own
            ask "$0" keys Fruit --rev
            """
        let file = try store.folder.file("ask.bash", asking)
        let result = try Vellum.shell(
            "exec bash -c '. \"$3\"' \"$0\" \"$1\" \"$2\" \"$3\"", Self.script("vellum.bash"), store.path,
            file)
        let offered = result.lines.map { $0.split(separator: " ").sorted() }
        let expected = [
            ["keys"], ["Fish", "Fruit"], ["apple", "apricot"], ["own-a", "own-b", "own-p"], ["--reverse"],
        ]
        #expect(offered == expected.map { $0.map { Substring($0) } }, "\(result.text) \(result.errors)")
    }
}
