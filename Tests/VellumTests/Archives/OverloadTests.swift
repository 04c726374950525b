import Foundation
import StorageEngine
import Testing
import Vellum

/// The forms of an archive's interface have the same calls.
@Suite struct OverloadTests {
    private let store = TemporaryStore()

    private struct Call {
        var name: String
        /// Labels without a default value, and all labels.
        var required: Set<String> = []
        var labels: Set<String> = []
        var isVariadic = false
        var isOfValues = false
        var throwsErrors = false

        init?(_ declaration: String) {
            guard let name = declaration.firstMatch(of: /func `?(\w+)`?(?:<[^(]*>)?\(/) else { return nil }
            self.name = String(name.output.1)
            isVariadic = declaration.contains("...")
            let form = declaration.dropFirst().prefix { $0 != "|" }
            throwsErrors = form.contains(") throws") || form.contains(") async throws")
            isOfValues = declaration.contains("Object == KeyedValue<")
            var depth = 0
            var parameter = ""
            for character in declaration[name.range.upperBound...] {
                if ")]>".contains(character), !parameter.hasSuffix("-") { depth -= 1 }
                if depth < 0 || depth == 0 && character == "," {
                    add(parameter)
                    parameter = ""
                    if depth < 0 { break }
                    continue
                }
                if "([<".contains(character) { depth += 1 }
                parameter.append(character)
            }
        }

        private mutating func add(_ parameter: String) {
            guard let label = parameter.split(separator: " ").first?.trimmingCharacters(in: [":"]),
                !parameter.isEmpty
            else { return }
            labels.insert(label)
            if !parameter.contains(" = ") { required.insert(label) }
        }

        func matches(_ other: Call) -> Bool {
            name == other.name && isOfValues == other.isOfValues && labels.isSuperset(of: other.required)
                && required.isSubset(of: other.labels)
        }
    }

    private func calls(of type: String) throws -> [Call] {
        let page = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "Sources/Vellum/Vellum.docc/Interface.md"), encoding: .utf8)
        let section = try #require(page.firstRange(of: "\n## \(type)\n"))
        let rest = page[section.upperBound...]
        return rest[..<(rest.firstRange(of: "\n## ")?.lowerBound ?? rest.endIndex)]
            .split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap { Call(String($0)) }
    }

    @Test(arguments: [
        ("ArchiveManager", "ThrowingArchives"), ("AsynchronousArchives", "ArchiveManager"),
        ("QueryBuilder", "ThrowingQuery"), ("AsynchronousQuery", "QueryBuilder"),
    ])
    func interfacesMatch(interface: String, other: String) throws {
        // Following values doesn't throw, an archive begins a query by a requirement of QueryComposing, and calls that throw have one form.
        let wanted = try calls(of: interface).filter {
            !$0.isVariadic && $0.name != "values" && !(other == "ArchiveManager" && $0.name == "adding")
                && (other != "ThrowingArchives" || !$0.throwsErrors)
        }
        let present = try calls(of: other)
        #expect(wanted.count > 3 && present.count > 3)
        for call in wanted {
            #expect(
                present.contains { $0.matches(call) }, "\(other) has no \(call.name)(\(call.required))")
        }
    }

    @Test("throwing calls have the results of the others") func throwingCalls() throws {
        let notes = try store.factory().archives(for: Note.self)
        #expect(try notes.value(forKey: "a") { Note("a", "1") }.text == "1")
        #expect(try notes.modify(archiveWithKey: "a") { $0.text += "2" }?.text == "12")
        #expect(try notes.modify(archiveWithKey: "b", default: Note("b")) { $0.text = "3" }.text == "3")
        #expect(try !notes.record(Note("a", "4"), replacing: nil))
        let text = try notes.transaction { try $0.access(archiveWithKey: "a")?.text }
        #expect(text == "12")
        #expect(try notes.throwing.countResults(of: [.where(\.text == "3")]) == 1)
        #expect(try notes.throwing.deleteResults(of: [.where(\.text == "3")]) == 1)
        #expect(try notes.throwing.keys() == ["a"])
        #expect(try notes.migrateAll().present == 1)
    }

    @Test("asynchronous calls have the results of the others") func asynchronousCalls() async throws {
        let factory = store.factory()
        let notes = try await factory.perform { try $0.archives(for: Note.self) }
        notes.insert(all: [Note("a", "1"), Note("b", "2")], options: .init(owner: "o"))
        #expect(notes.keys(ofOwner: "o") == ["a", "b"])
        let explanation = try await notes.perform { try $0.throwing.where(\.text == "1").explain() }
        #expect(explanation.encoded?.contains("text") == true)
        #expect(try await notes.asynchronous.where(\.text == "1").count() == 1)
        #expect(try await notes.asynchronous.where(\.text == "1").deleteResults() == 1)
        let texts = try await factory.perform { try $0.values(of: String.self, named: "texts") }
        texts["a"] = "x"
        try await factory.perform { $0.close() }
        #expect(texts["a"] == "x")
    }

    @Test("deleting several keys through Archivist is atomic") func batchDeletes() throws {
        func delete<Archives: Archivist>(_ keys: [String], of archives: Archives) {
            archives.delete(keys: keys)
        }
        let notes = try store.factory().archives(for: Note.self)
        notes.insert(Note("a"), Note("b"))
        let calls = Guarded<[TimedCall]>([])
        notes.core.shared.times.add { call, _ in calls.withLock { $0.append(call) } }
        delete(["a", "b"], of: notes)
        #expect(notes.keys() == [] && calls.withLock { $0 } == [.change])
        let shelf = Shelf([Note("a")])
        delete(["a"], of: shelf)
        #expect(shelf.calls == [.delete("a")])
    }
}
