import Foundation
import StorageEngine
import Testing
import Vellum

/// All overloads of an archive's interface have the same calls.
@Suite struct OverloadTests {
    private let store = TemporaryStore()

    private struct Call {
        var name: String
        /// Labels without a default value, and all labels.
        var required: Set<String> = []
        var labels: Set<String> = []
        var isVariadic = false
        var isOfValues = false

        init?(_ declaration: String) {
            guard let name = declaration.firstMatch(of: /func `?(\w+)`?(?:<[^(]*>)?\(/) else { return nil }
            self.name = String(name.output.1)
            isVariadic = declaration.contains("...")
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
        ("ArchiveManager", "ThrowingArchives"), ("ArchiveManager", "AsynchronousArchives"),
        ("ThrowingArchives", "AsynchronousArchives"), ("AsynchronousArchives", "ThrowingArchives"),
        ("QueryBuilder", "ThrowingQuery"), ("QueryBuilder", "AsynchronousQuery"),
        ("ArchivesFactory", "AsynchronousFactory"),
    ])
    func interfacesMatch(interface: String, other: String) throws {
        // Following values neither blocks nor throws, and the store's path is set before it is open.
        let exceptions: Set = ["values", "useStore"]
        let wanted = try calls(of: interface).filter {
            !$0.isVariadic && (!exceptions.contains($0.name) || $0.labels.contains("named"))
        }
        let present = try calls(of: other)
        #expect(wanted.count > 3 && present.count > 3)
        for call in wanted {
            #expect(
                present.contains { $0.matches(call) }, "\(other) has no \(call.name)(\(call.required))")
        }
    }

    @Test func throwingCalls() throws {
        let notes = try store.factory().archives(for: Note.self).throwing
        #expect(try notes.value(forKey: "a") { Note(primaryKey: "a", text: "1") }.text == "1")
        #expect(try notes.modify(archiveWithKey: "a") { $0.text += "2" }?.text == "12")
        #expect(
            try notes.modify(archiveWithKey: "b", default: Note(primaryKey: "b", text: "")) { $0.text = "3" }
                .text == "3")
        #expect(try !notes.record(Note(primaryKey: "a", text: "4"), replacing: nil))
        let text = try notes.transaction { try $0.access(archiveWithKey: "a")?.text }
        #expect(text == "12")
        #expect(try notes.countResults(of: [.where(\.text == "3")]) == 1)
        #expect(try notes.deleteResults(of: [.where(\.text == "3")]) == 1)
        #expect(try notes.keys() == ["a"])
        #expect(try notes.migrateAll().present == 1)
    }

    @Test func asynchronousCalls() async throws {
        let factory = store.factory()
        let notes = try await factory.asynchronous.archives(for: Note.self)
        notes.insert(Note(primaryKey: "a", text: "1"), Note(primaryKey: "b", text: "2"), owner: "o")
        #expect(notes.keys(ofOwner: "o") == ["a", "b"])
        let explanation = try await notes.asynchronous.where(\.text == "1").explain()
        #expect(explanation.encoded?.contains("text") == true)
        #expect(try await notes.asynchronous.countResults(of: [.where(\.text == "1")]) == 1)
        #expect(try await notes.asynchronous.deleteResults(of: [.where(\.text == "1")]) == 1)
        let texts = try await factory.asynchronous.values(of: String.self, named: "texts")
        texts["a"] = "x"
        await factory.asynchronous.close()
        #expect(texts["a"] == "x")
    }

    @Test("deleting several keys through Archivist is atomic") func batchDeletes() throws {
        func delete<Archives: Archivist>(_ keys: [String], of archives: Archives) {
            archives.delete(keys: keys)
        }
        let notes = try store.factory().archives(for: Note.self)
        notes.insert(Note(primaryKey: "a", text: ""), Note(primaryKey: "b", text: ""))
        let calls = Guarded<[TimedCall]>([])
        notes.core.shared.times.add { call, _ in calls.withLock { $0.append(call) } }
        delete(["a", "b"], of: notes)
        #expect(notes.keys() == [] && calls.withLock { $0 } == [.change])
        let shelf = Shelf([Note(primaryKey: "a", text: "")])
        delete(["a"], of: shelf)
        #expect(shelf.calls == [.delete("a")])
    }
}
