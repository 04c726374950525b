import ArgumentParser
import StorageEngine

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `vellum rm`.
struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Deletes entries.",
        discussion: """
            Asks first on a terminal; elsewhere it takes --yes. An entry that is recorded anew while the question \
            stands is left alone.
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.")
    var archive: String

    @Argument(help: "The keys of the entries.")
    var keys: [String] = []

    @Flag(help: "Delete all entries; the archive stays.")
    var all = false

    @Flag(help: "Only say how many entries and bytes would be deleted.")
    var dryRun = false

    @Flag(help: "Don't ask.")
    var yes = false

    mutating func validate() throws {
        if all, !keys.isEmpty { throw ValidationError("say either keys or --all") }
        if !all, keys.isEmpty { throw ValidationError("say which keys to delete, or --all") }
    }

    func run() throws {
        if dryRun { return try printPlan() }
        let asks = !yes
        guard !asks || (SystemText.isTerminal(STDIN_FILENO) && Narration.isTerminal) else {
            throw CommandFailure("nobody is there to be asked; say --yes to delete", status: .usage)
        }
        let store = try store.openForWriting(creating: false)
        defer { store.close() }
        let archive = try store.archive(named: archive)
        let plan = try RemovalPlan(archive, keys: all ? nil : keys)
        plan.reportMissing()
        guard plan.entries > 0 else {
            throw CommandFailure(all ? "\(archive.name) is empty" : nil, status: .nothing)
        }
        if asks, !Self.isConfirmed(plan, archive.name) {
            throw CommandFailure("nothing was deleted", status: .nothing)
        }
        let removal = try plan.apply(to: archive, ifUnchanged: asks)
        Narration.say("deleted " + HumanText.entries(removal.entries, bytes: removal.bytes))
        if removal.entries == 0 { throw CommandFailure(nil, status: .nothing) }
    }

    private func printPlan() throws {
        let archive = try store.openForLooking().archive(named: archive)
        let plan = try RemovalPlan(archive, keys: all ? nil : keys)
        plan.reportMissing()
        let output = OutputWriter()
        try output.write("would delete " + HumanText.entries(plan.entries, bytes: plan.bytes) + "\n")
        try output.flush()
        if plan.entries == 0 { throw CommandFailure(nil, status: .nothing) }
    }

    private static func isConfirmed(_ plan: RemovalPlan, _ name: String) -> Bool {
        Narration.write("Delete \(HumanText.entries(plan.entries, bytes: plan.bytes)) from \(name)? [y/N] ")
        guard let answer = readLine()?.lowercased() else { return false }
        return answer == "y" || answer == "yes"
    }
}
