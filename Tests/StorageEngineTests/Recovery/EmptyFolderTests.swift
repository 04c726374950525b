import Foundation
import StorageEngine
import Testing

@Suite struct EmptyFolderTests {
    private func withLost(_ body: (Store, _ folder: String) throws -> Void) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        for name in ["Kept", "Löst"] {
            try store.archive(named: name, orCreate: .cache()).put([1], forKey: "a")
        }
        store.close()
        let lost = folder.store + "/L%c3%b6st.archive"
        for file in try FileManager.default.contentsOfDirectory(atPath: lost) {
            try FileManager.default.removeItem(atPath: lost + "/" + file)
        }
        let again = try Store.open(at: folder.store)
        defer { again.close() }
        try body(again, lost)
    }

    @Test("reports and removes an empty archive folder") func reportAndRemoval() throws {
        try withLost { store, folder in
            #expect(try store.archiveNames() == ["Kept"])
            #expect(try store.emptyArchiveNames() == ["Löst"])
            #expect(throws: StorageError.noSuchArchive(name: "Löst", store: store.path)) {
                try store.archive(named: "Löst")
            }
            let problem = store.emptyArchiveProblem(named: "Löst")
            #expect(problem.contains(folder) && problem.contains("check --repair"))
            try store.removeEmptyArchive(named: "Löst")
            #expect(try store.emptyArchiveNames() == [])
            #expect(!FileManager.default.fileExists(atPath: folder))
        }
    }

    @Test("an empty archive folder can be used again") func recreation() throws {
        try withLost { store, _ in
            try store.archive(named: "Löst", orCreate: .cache()).put([2], forKey: "a")
            #expect(try store.emptyArchiveNames() == [])
            #expect(try store.archiveNames() == ["Kept", "Löst"])
        }
    }

    @Test("doesn't remove a folder with files") func folderWithFiles() throws {
        try withLost { store, folder in
            try Data([1]).write(to: URL(fileURLWithPath: folder + "/file"))
            #expect(try store.emptyArchiveNames() == [])
            #expect(throws: StorageError.self) { try store.removeEmptyArchive(named: "Löst") }
            #expect(throws: StorageError.self) { try store.removeEmptyArchive(named: "Kept") }
            #expect(try store.archive(named: "Kept").peek("a") == [1])
        }
    }
}
