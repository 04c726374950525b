import ArgumentParser
import StorageEngine
import StoreInspection

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `vellum rename`.
struct RenameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Gives an archive another name.",
        discussion: """
            It is copied with all that is known of its entries, and the old one is removed when the copy is whole: that \
            takes room for both meanwhile. Events and what can be undone don't go with it. While another process has the \
            archive open it is refused with exit code 1, for what that stored meanwhile would be lost.

            Example: vellum rename City Town
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.", completion: .archives)
    var archive: String

    @Argument(help: "Its new name.")
    var name: String

    func run() throws {
        Interruption.collect()
        let store = try store.openForWriting(creating: false)
        defer { store.close() }
        let others = try store.archive(named: archive).processes().filter { $0.isAlive && $0.pid != getpid() }
        guard others.isEmpty else {
            let names = others.map { "\($0.name) (\($0.pid))" }.joined(separator: ", ")
            throw CommandFailure(
                "\(names) \(others.count == 1 ? "has" : "have") archive \"\(archive)\" open; end them, or use vellum copy",
                status: .nothing)
        }
        try ArchiveCopying.copy(archive, of: store, as: name, to: store, removesSource: true) { copied in
            "renamed \(archive) to \(name), with \(copied)"
        }
    }
}

/// Stateless. Copies a whole archive, with progress and a way out.
enum ArchiveCopying {
    /// `summary` gets what was copied, in words.
    static func copy(
        _ archive: String, of source: Store, as name: String, to target: Store, removesSource: Bool = false,
        summary: (String) -> String
    ) throws {
        let isTaken = try target.archiveNames().contains { ExactText($0) == ExactText(name) }
        guard !isTaken else {
            throw CommandFailure(
                "there is an archive \(TerminalSafe.quoted(name)) in \(target.path) already", status: .nothing
            )
        }
        var progress = ProgressBar()
        defer { progress.finish() }
        let report = try source.copyArchive(named: archive, to: target, as: name) { state in
            progress.update(done: UInt64(state.done), total: UInt64(state.total), entries: state.done)
            return !Interruption.isRequested
        }
        progress.finish()
        guard let report else {
            Narration.say("interrupted; nothing was copied")
            throw CommandFailure(nil, status: Interruption.status)
        }
        for line in report.damaged { Narration.complain(line) }
        let entries = report.archives.reduce(0) { $0 + $1.entries }
        let bytes = report.archives.reduce(0) { $0 + $1.bytes }
        guard report.damaged.isEmpty else {
            // Whoever mends the damage may need what is left.
            Narration.say(
                "copied \(Figures.amount(entries, bytes: bytes)) to \(name)"
                    + (removesSource ? "; \(archive) stays, for some of it is damaged" : ""))
            throw CommandFailure(nil, status: .storeFailure)
        }
        if removesSource { try source.removeArchive(named: archive) }
        Narration.say(summary(Figures.amount(entries, bytes: bytes)))
    }
}
