import Foundation
import TestSupport
import Testing

/// Shells ask the program, which reads the store.
@Suite("completions in a shell")
struct CompletionTests {
    let store: TestStore

    init() throws {
        store = TestStore()
        for key in ["apple", "apricot", "banana", "pear\nshaped"] {
            try store.done("put", "Fruit", key, "--owner", "own-\(key.prefix(1))", input: "1")
        }
        try store.done("put", "Fish", "cod", "--owner", "sea", input: "1")
    }

    /// Asks like the scripts: the argument to complete, the index of the last word, and the cursor's offset in it.
    private func ask(
        _ argument: String, _ words: String..., environment: [String: String]? = nil
    ) throws -> Vellum.Result {
        let (command, last) = (words[0], words[words.count - 1])
        return try Vellum.run(
            ["---completion", command, "--", argument, "\(words.count)", "\(last.count)", "vellum"] + words,
            environment: environment ?? ["VELLUM_STORE": store.path])
    }

    @Test func offersArchives() throws {
        #expect(try ask("positional@0", "keys", "").lines.sorted() == ["Fish", "Fruit"])
        #expect(try ask("positional@0", "keys", "Fr").lines == ["Fruit"])
        #expect(try ask("positional@0", "drop", "x").lines.isEmpty)
    }

    /// Keys of the archive in the line, without those that a shell would split.
    @Test func offersKeys() throws {
        #expect(try ask("positional@1", "get", "Fruit", "").lines.sorted() == ["apple", "apricot", "banana"])
        #expect(try ask("positional@1", "get", "Fruit", "ap").lines.sorted() == ["apple", "apricot"])
        #expect(try ask("positional@1", "rm", "Fruit", "apple", "b").lines == ["banana"])
        #expect(try ask("positional@1", "ttl", "Fish", "").lines == ["cod"])
        #expect(try ask("positional@1", "get", "None", "").lines.isEmpty)
    }

    @Test func offersOwners() throws {
        #expect(
            try ask("--owner", "keys", "Fruit", "--owner", "").lines.sorted() == ["own-a", "own-b", "own-p"])
        #expect(try ask("--owner", "rm", "Fruit", "--owner", "own-b").lines == ["own-b"])
        #expect(try ask("--owner", "expire", "Fish", "--owner", "").lines == ["sea"])
    }

    /// Regression: an option's value was taken for the archive.
    @Test func findsArchiveAfterOptions() throws {
        #expect(try ask("--owner", "keys", "--limit", "3", "Fish", "--owner", "").lines == ["sea"])
        #expect(try ask("positional@1", "get", "--store", store.path, "Fruit", "b").lines == ["banana"])
    }

    /// Names of properties and other groupings; ambiguous names are quoted.
    @Test func offersProperties() throws {
        try store.done(
            "put", "User", "ada", input: "{\"address\":{\"city\":\"London\"},\"owner\":1,\"full name\":2}")
        let offered = try ask("--by", "groups", "User", "--by", "").lines
        #expect(offered.prefix(3) == ["prefix", "owner", "kind"])
        #expect(offered.dropFirst(3).prefix(4) == ["address", "address.city", "\"owner\"", "\"full name\""])
        #expect(offered.contains("@tier"))
        #expect(try ask("--by", "groups", "User", "--by", "address.").lines == ["address.city"])
        #expect(try ask("--by", "groups", "None", "--by", "").lines == ["prefix", "owner", "kind"])
        for word in offered {
            #expect(try store.run("groups", "User", "--by", word).status == 0, "\(word)")
        }
    }

    @Test(arguments: [
        ("in.ndjson", "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"of.it\":3}\n", ["id", "name", "of.it"]),
        ("in.json", "[{\"id\":1},\n{\"name\":2}]", ["id", "name"]),
        ("in.csv", "id,name\n1,2\n", ["id", "name"]),
    ])
    func offersPropertiesOfFile(name: String, content: String, properties: [String]) throws {
        let file = try store.folder.file(name, content)
        #expect(try ask("--key", "import", "New", file, "--key", "").lines == properties)
        #expect(
            try ask("--value", "import", "New", file, "--key", "id", "--value", "na").lines.allSatisfy {
                $0 == "name"
            })
        #expect(try ask("--key", "import", "New", store.folder / "none", "--key", "").lines.isEmpty)
        #expect(try ask("--key", "import", "New", store.folder.path, "--key", "").lines.isEmpty)
    }

    /// Regression: bash ran $(…) in an offered key, zsh took text after a colon for a description, and words with a backslash or
    /// a quote were not completed.
    @Test func quotesForEachShell() throws {
        for key in ["a:b", "it's", "$(exit)"] { try store.done("put", "Odd", key, input: "1") }
        func offered(_ shell: String, _ version: String, _ word: String) throws -> Set<String> {
            let environment = ["VELLUM_STORE": store.path, "SAP_SHELL": shell, "SAP_SHELL_VERSION": version]
            return Set(try ask("positional@1", "get", "Odd", word, environment: environment).lines)
        }
        #expect(try offered("bash", "5.2.15", "") == ["'a:b'", "'it'\\''s'", "'$(exit)'"])
        #expect(try offered("bash", "5.2.15", "it\\'") == ["'it'\\''s'"])
        #expect(try offered("bash", "5.2.15", "\"it'") == ["'it'\\''s'"])
        // The script reads the last line as an end mark.
        #expect(try offered("zsh", "5.9", "") == ["a\\:b", "it's", "$(exit)", " "])
        #expect(try offered("zsh", "5.9", "\\$\\(") == ["$(exit)", " "])
        #expect(try offered("fish", "3.6.0", "it'") == ["it's"])
        #expect(try offered("fish", "4.0.1", "it\\'") == ["it's"])
    }

    @Test func expandsTilde() throws {
        let environment = ["HOME": store.folder.path, "SAP_SHELL": "bash", "SAP_SHELL_VERSION": "5.2.15"]
        let words = ["get", "--store", "~/store", "Fi"]
        let result = try Vellum.run(
            ["---completion", "get", "--", "positional@0", "4", "2", "vellum"] + words,
            environment: environment)
        #expect(result.lines == ["'Fish'"], "\(result.errors)")
    }

    /// The line's store has priority over that of the environment; without a store nothing is offered.
    @Test func usesStoreOfLine() throws {
        let other = TestStore()
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

    /// Output on standard error would appear within the typed line.
    @Test func writesNoErrors() throws {
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
    func scriptParses(shell: String, file: String) throws {
        guard try Self.isInstalled(shell) else { return }
        let result = try Vellum.shell("\"$1\" -n \"$2\"", shell, Self.script(file))
        #expect(result.status == 0 && result.text.isEmpty && result.errors.isEmpty, "\(result.errors)")
    }

    /// Also completes after a colon, where bash splits words.
    @Test func bashCompletes() throws {
        guard try Self.isInstalled("bash") else { try Test.cancel("there is no bash here") }
        let trap = store.folder / "trap"
        for key in ["user:1:a", "user:1:b", "user:2", "x$(touch '\(trap)')"] {
            try store.done("put", "Odd", key, input: "{\"of\":{\"it\":1}}")
        }
        // For each case: the line, the part to complete of its last word, and the words as bash splits them.
        let asking = """
            source "$1"
            ask() {
                COMP_LINE=$1; COMP_POINT=${#COMP_LINE}; local cur=$2; shift 2
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
                _vellum_whole_words "$1" "$cur" "${@: -2:1}" 2>/dev/null
                IFS=' '; echo "${COMPREPLY[*]}"; unset IFS
            }
            export VELLUM_STORE="$2"
            ask "$0 ke" ke "$0" ke
            ask "$0 keys F" F "$0" keys F
            ask "$0 get Fruit ap" ap "$0" get Fruit ap
            ask "$0 keys Fruit --owner own" own "$0" keys Fruit --owner own
            ask "$0 keys Fruit --rev" --rev "$0" keys Fruit --rev
            ask "$0 get Odd user:" "" "$0" get Odd user :
            ask "$0 get Odd user:1:" "" "$0" get Odd user : 1 :
            ask "$0 get Odd user:1:b" b "$0" get Odd user : 1 : b
            ask "$0 get Odd 'user:1:" "user:1:" "$0" get Odd "'user:1:"
            ask "$0 get Odd x" x "$0" get Odd x
            ask "$0 groups Odd --by of" of "$0" groups Odd --by of
            ask "$0 groups Odd --by @t" @t "$0" groups Odd --by @ t
            """
        let file = try store.folder.file("ask.bash", asking)
        let result = try Vellum.shell(
            "exec bash -c '. \"$3\"' \"$0\" \"$1\" \"$2\" \"$3\"", Self.script("vellum.bash"), store.path,
            file)
        let offered = result.lines.map { $0.split(separator: " ").sorted() }
        let expected = [
            ["keys"], ["Fish", "Fruit"], ["apple", "apricot"], ["own-a", "own-b", "own-p"], ["--reverse"],
            ["1:a", "1:b", "2"], ["a", "b"], ["b"], ["user:1:a", "user:1:b"],
            ["'\(trap)')", "x$(touch"], ["of", "of.it"], ["@tier", "@ttl", "@type"],
        ]
        #expect(offered == expected.map { $0.map { Substring($0) } }, "\(result.text) \(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: trap), "a key was run")
    }

    /// fish and zsh complete on terminals only. A key is bound to a command that prints the line.
    @Test func fishCompletes() async throws {
        guard try Self.isInstalled("fish") else { try Test.cancel("there is no fish here") }
        try store.done("put", "Odd", "user:1 a", input: "{\"of\":{\"it\":1}}")
        let lines = store.folder / "lines"
        let setting =
            #"source $SCRIPT; bind \cx 'commandline >>$LINES_FILE; commandline ""'; echo ready >>$LINES_FILE"#
        let fish = try Spawned(
            ["-qec", "exec fish --no-config --interactive --init-command \"$SETTING\"", "/dev/null"],
            executable: "/usr/bin/script", holdsInput: true,
            environment: [
                "SETTING": setting, "SCRIPT": Self.script("vellum.fish"), "LINES_FILE": lines,
                "VELLUM_STORE": store.path, "HOME": store.folder.path, "SHELL": "/bin/sh", "TERM": "xterm",
                "PATH": try pathWithProgram(),
            ])
        var told: [String] {
            (try? String(contentsOfFile: lines, encoding: .utf8))?.split(separator: "\n").map(String.init)
                ?? []
        }
        try await fish.until("prompt") { told.count == 1 }
        for (line, completed) in [
            ("vellum ke", "vellum keys "), ("vellum keys Fr", "vellum keys Fruit "),
            ("vellum keys Fruit --rev", "vellum keys Fruit --reverse "),
            ("vellum get Odd user:", #"vellum get Odd user:1\ a "#),
            ("vellum groups Odd --by of.", "vellum groups Odd --by of.it "),
        ] {
            let before = told.count
            fish.type(line + "\t\u{18}")
            try await fish.until(line) { told.count > before }
            #expect(told.last == completed)
        }
    }

    /// The variable PATH, preceded by a folder that holds only the program.
    private func pathWithProgram() throws -> String {
        let bin = store.folder / "bin"
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: bin + "/vellum", withDestinationPath: Vellum.executable.path)
        return bin + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
    }

    @Test func zshCompletes() throws {
        guard try Self.isInstalled("zsh") else { try Test.cancel("there is no zsh here") }
        try store.done("put", "Odd", "user:1 a", input: "{\"of\":{\"it\":1}}")
        let lines = [
            "vellum ke", "vellum keys Fr", "vellum get Fruit b", "vellum keys Fruit --rev",
            "vellum get Odd user:", "vellum groups Odd --by of.",
        ]
        let setting = #"""
            PS1= ; fpath=("$1" $fpath); export VELLUM_STORE="$2"
            autoload -U compinit; compinit -D -u
            tell() { print -r -- "<$BUFFER>"; BUFFER=; }
            zle -N tell; bindkey '^X' tell
            print -r -- '<ready>'
            """#
        let asking = #"""
            zmodload zsh/zpty || exit 77
            zpty shell "ZDOTDIR=/nonexistent exec zsh -f -i"
            zpty -w shell ". '$3' '$1' '$2'"
            zpty -r shell answer $'*\n<ready>*' && shift 3
            for line in "$@"; do
                zpty -w -n shell "$line"$'\t\x18'
                zpty -r shell answer '*<vellum *>*' && print -r -- "${${answer##*<}%%>*}"
            done
            zpty -d shell
            """#
        let scripts = (
            try store.folder.file("setting.zsh", setting), try store.folder.file("asking.zsh", asking)
        )
        let result = try ChildProcess.run(
            "/usr/bin/env",
            ["zsh", "-f", scripts.1, Self.script(""), store.path, scripts.0] + lines,
            environment: Vellum.environment(["TERM": "dumb", "PATH": try pathWithProgram()]))
        if result.status == 77 { try Test.cancel("zsh has no terminals here") }
        #expect(
            result.lines == [
                "vellum keys ", "vellum keys Fruit ", "vellum get Fruit banana ",
                "vellum keys Fruit --reverse ", "vellum get Odd user:1\\ a ", "vellum groups Odd --by of.it ",
            ], "\(result.text) \(result.errors)")
    }
}
