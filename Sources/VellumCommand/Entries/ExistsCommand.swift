import ArgumentParser
import StorageEngine
import StoreInspection

struct ExistsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exists", abstract: "Checks whether entries exist, by its exit code.",
        discussion: """
            0: all exist; 1: one is missing, which standard error names; 3: the store can't be read or is damaged. Prints nothing on \
            standard output. Leaves no access record.

            Example: vellum exists City 1642911 && echo there
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The keys.", completion: .keys)
    var keys: [WordList]

    func run() throws {
        let archive = try reference.openEntries()
        let missing = try keys.words.filter { try archive.metadata($0) == nil }
        for key in missing { Narration.complain("no entry \(TerminalSafe.quoted(key))") }
        guard missing.isEmpty else { throw CommandFailure(nil, status: try archive.statusOfAbsence()) }
        try archive.failIfDamaged()
    }
}
