import Foundation
import Testing

/// `doctor` describes a machine for remote support, with advice.
@Suite("doctor")
struct DoctorTests {
    let store: TestStore

    init() throws {
        store = TestStore()
        try store.done("put", "A", "k", input: "[1]")
    }

    private struct Finding: Decodable {
        let state: String
        let subject: String
        let finding: String
        let advice: String?
    }

    private func findings(status: Int32, environment: [String: String] = [:]) throws -> [Finding] {
        let result = try Vellum.run(["doctor", "--json", "--store", store.path], environment: environment)
        #expect(result.status == status && result.errors.isEmpty, "\(result)")
        return try JSONDecoder().decode([Finding].self, from: result.output)
    }

    private func finding(_ subject: String, environment: [String: String] = [:]) throws -> Finding {
        try #require(
            try findings(status: 0, environment: environment).first { $0.subject == subject }, "\(subject)")
    }

    @Test func reportsProgramAndSystem() throws {
        let version = try Vellum.run(["--version"]).text.dropLast()
        let program = try finding("version")
        #expect(program.state == "ok" && program.finding == "\(version), files of format 1")
        let system = try Vellum.shell("uname -s; uname -r; uname -m").lines
        let platform = try finding("platform")
        #expect(platform.finding.hasPrefix("\(system[0]) \(system[1]), \(system[2]), "), "\(platform)")
        #expect(platform.finding.contains(/, \d+ processors?$/), "\(platform)")
        #expect(try finding("open files").finding.contains(/^(at most [\d,]+|no limit)$/))
        #expect(try finding("locale", environment: ["LC_ALL": "C.UTF-8"]).state == "ok")
        let language = try finding("locale", environment: ["LC_ALL": "de_DE.ISO-8859-1"])
        #expect(language.state == "note" && language.finding.hasPrefix("de_DE.ISO-8859-1"), "\(language)")
        #expect(language.advice?.contains("LC_ALL=C.UTF-8") == true)
    }

    @Test("says that requests are not recorded, and how to change that")
    func unusableTrace() throws {
        let path = store.path + "/A.archive/requests"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let found = try finding("\(store.path): A")
        #expect(found.state == "note" && found.finding.contains(path), "\(found)")
        #expect(found.advice?.contains("check --repair") == true, "\(found)")
    }

    @Test func reportsTerminal() throws {
        let pipe = try finding("terminal")
        #expect(pipe.state == "note" && pipe.finding.contains("standard output isn't a terminal"), "\(pipe)")
        let words = "doctor --store '\(store.path)'"
        let terminal = try PseudoTerminal.run(words, columns: 91)
        #expect(terminal.status == 0, "\(terminal.text)")
        #expect(
            terminal.text.contains("ok     terminal: xterm-256color, 91 columns wide\r\n"), "\(terminal.text)"
        )
        #expect(terminal.text.contains("ok     \(store.path): A: a collection, 1 entry, 2 B\r\n"))
        let dumb = try PseudoTerminal.run(words, environment: ["TERM": "dumb"])
        #expect(dumb.status == 1 && dumb.text.contains("wrong  terminal: TERM is not set"), "\(dumb.text)")
        #expect(dumb.text.contains("       → export TERM=xterm-256color"), "\(dumb.text)")
    }

    @Test func reportsAccessibleStore() throws {
        #expect(try finding(store.path).finding == "accessible only to this user")
        let findings = try findings(status: 0).filter { $0.subject == store.path }
        #expect(findings.contains { $0.finding.hasSuffix(" free on its file system") }, "\(findings)")
        try #require(chmod(store.path, 0o755) == 0)
        let open = try finding(store.path)
        #expect(
            open.state == "note" && open.finding == "other users can enter the folder (mode 755)", "\(open)")
        #expect(open.advice == "chmod 700 \(store.path)")
        try Vellum.shell(try #require(open.advice)).expect(0)
        #expect(try finding(store.path).state == "ok")
    }

    /// The advised command repairs the store.
    @Test(arguments: [
        ("vellum-store", "Vellum store, format 1", "differs from byte 22 on"),
        ("A.archive/descriptor", "garbage", "descriptor is damaged"),
        ("A.archive/00000001.segment", "", "its log is damaged"),
    ])
    func reportsBrokenStore(file: String, content: String, words: String) throws {
        #expect(try findings(status: 0).allSatisfy { $0.state != "wrong" })
        try Data(content.utf8).write(to: URL(fileURLWithPath: store.path + "/" + file))
        let wrong = try findings(status: 1).filter { $0.state == "wrong" }
        let found = try #require(wrong.first)
        #expect(wrong.count == 1 && found.subject.hasPrefix(store.path), "\(wrong)")
        #expect(found.finding.contains(words), "\(found.finding)")
        let advice = "vellum --store \(store.path) check --repair"
        #expect(found.advice == advice)
        let (status, text) = try PseudoTerminal.run("doctor --store '\(store.path)'")
        #expect(status == 1 && text.contains("       → \(advice)\r\n"), "\(text)")
        try store.done("check", "--repair", "--yes")
        #expect(try findings(status: 0).allSatisfy { $0.state != "wrong" })
    }
}
