import ArchiveQuery

#if ValkeyTLS
import ServerInspection
import VellumValkey
#endif

@main
struct VellumCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vellum", abstract: "Inspects and edits Vellum stores while other processes use them.",
        discussion: """
            Without a command, opens the browser.

            Reading an entry doesn't count as an access. Results are written to standard output: a table on a terminal, \
            columns separated by tabs elsewhere, JSON with --json. Messages are written to standard error.

            Exit codes: 0 done; 1 nothing matched, a check failed or a value was refused; 2 wrong usage; 3 the store could \
            not be opened or read, or has lost entries; 130 interrupted.
            """,
        version: Version.text,
        subcommands: [
            BrowseCommand.self, DemoCommand.self, ListCommand.self, KeysCommand.self, GroupsCommand.self,
            GetCommand.self, PutCommand.self, QueryCommand.self, ShellCommand.self,
            RemoveCommand.self, ExpireCommand.self, UndoCommand.self,
            ExistsCommand.self, TimeLeftCommand.self, TouchCommand.self,
            ResizeCommand.self, CompactCommand.self, CopyCommand.self, RenameCommand.self, DropCommand.self,
            StatsCommand.self, WatchCommand.self, WhyCommand.self,
            ImportCommand.self, ExportCommand.self, AppendCommand.self, TailCommand.self, CheckCommand.self,
            DiffCommand.self, BackupCommand.self, DumpCommand.self, RestoreCommand.self,
            DoctorCommand.self, BenchCommand.self, AdviseCommand.self, ConfigCommand.self,
            WorkloadCommand.self,
        ],
        defaultSubcommand: BrowseCommand.self)

    @OptionGroup var store: StoreArguments

    static let names = configuration.subcommands.map { $0.configuration }.filter(\.shouldDisplay)
        .compactMap(\.commandName)

    static func main() {
        StandardDescriptors.occupy()
        ProcessMemory.endOnExhaustedMemory()
        Interruption.disableBacktraces()
        Interruption.endAtOnce()
        Interruption.ignoreFileSizeSignal()
        ProcessLimits.raiseOpenFiles()
        #if ValkeyTLS
        SecureConnections.open(by: SecureTransport.connect)
        #endif
        run().end()
    }

    private static func run() -> ExitStatus {
        do {
            var command = try parseAsRoot(ProgramArguments.read())
            QueryTimeZone.usesUTC.store(Configuration.current.times.value == .utc, ordering: .relaxed)
            // These commands, or their parent process, report unusable settings themselves.
            if !(command is BrowseCommand || command is ConfigCommand || command is WorkloadCommand) {
                ConfigurationReport.printProblems()
            }
            try command.run()
            return .done
        } catch {
            return FailureReport.report(error)
        }
    }
}
