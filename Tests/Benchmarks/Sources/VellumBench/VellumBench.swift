import ArgumentParser
import Foundation

@main
struct VellumBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vellum-bench",
        abstract: "Measures Vellum against LMDB, SQLite, GRDB and Foundation.",
        discussion: """
            Times are medians over the runs; systems take turns in each run. A bar that is missed is reported \
            and is no failure of the program.
            """)

    @Option(help: "Write the figures to this file as JSON.")
    var output: String?

    @Option(
        help:
            "Only workloads whose name contains this text, such as P6; P13 goes up to ten million entries then."
    )
    var filter: String?

    @Option(help: "Entries of each store, 1,000 to 4,000,000,000.")
    var entries = 1_000_000

    @Option(help: "Runs of each workload.")
    var runs = 3

    @Option(help: "Work in a new folder inside this one; by default, beside the program.")
    var directory: String?

    @Option(help: "The built program whose browser is measured (P14).")
    var browser: String?

    @Flag(help: "100,000 entries and 2 runs: to see that it works. The bars are meant for a million.")
    var quick = false

    @Option(help: .hidden)
    var openStore: String?

    @Option(help: .hidden)
    var openKey: String?

    @Option(help: .hidden)
    var space: String?

    @Option(help: .hidden)
    var worker: String?

    @Option(help: .hidden)
    var workerStore = ""

    @Option(help: .hidden)
    var workerRun = 0

    @Option(help: .hidden)
    var workerNumber = 0

    mutating func validate() throws {
        if quick { (entries, runs) = (100_000, 2) }
        guard (1000...4_000_000_000).contains(entries), runs > 0 else {
            throw ValidationError("--entries is 1,000 to 4,000,000,000 and --runs at least 1")
        }
    }

    func run() throws {
        if let openStore, let openKey {
            print(try OpeningWorkload.timeOpening(at: openStore, key: openKey, entries: entries))
            return
        }
        guard let program = Bundle.main.executablePath else {
            throw BenchmarkError("the path of this program is unknown")
        }
        let parent =
            directory.map { URL(fileURLWithPath: $0) }
            ?? URL(fileURLWithPath: program).deletingLastPathComponent()
        let scratch = try ScratchFolder(in: parent)
        defer { try? scratch.remove() }
        let plan = Plan(
            entries: entries, runs: runs, scratch: scratch, filter: filter, program: program,
            clockOverhead: Clock.overhead())
        if let space {
            print(try SpaceWorkload.figures(plan, of: space))
            return
        }
        if let worker {
            print(
                try CrewWorkload.work(plan, in: worker, at: workerStore, run: workerRun, number: workerNumber)
            )
            return
        }
        print(preface(plan))
        var report = Report()
        report.add("P1, P2") { try AppendWorkload(plan: plan).run() }
        report.add("P3") { try RecordWorkload(plan: plan).run() }
        report.add("P4") { try CodecWorkload(plan: plan).run() }
        report.add("P5") { try PutWorkload(plan: plan).run() }
        report.add("P6, P7") { try AccessWorkload(plan: plan).run() }
        report.add("P8") { try MemoryWorkload(plan: plan).run() }
        report.add("P9") { try QueryWorkload(plan: plan).run() }
        report.add("P10") { try EvictionWorkload(plan: plan).run() }
        report.add("P11") { try OpeningWorkload(plan: plan).run() }
        report.add("P12") { try CrewWorkload(plan: plan).run() }
        report.add("P13") { try SizeWorkload(plan: plan).run() }
        report.add("P14") { try BrowserWorkload(plan: plan, browser: browser).run() }
        report.add("P14 busy") { try BusyStoreWorkload(plan: plan, browser: browser).run() }
        report.add("P15") { try FollowerWorkload(plan: plan).run() }
        report.add("P16 YCSB") { try YCSBWorkload(plan: plan).run() }
        report.add("P16 values") { try ValueSizeWorkload(plan: plan).run() }
        report.add("P16 space") { try SpaceWorkload(plan: plan).run() }
        report.add("P18") { try CacheWorkload(plan: plan).run() }
        report.add("P19") { try SharedWorkload(plan: plan).run() }
        report.add("P20") { try ServerWorkload(plan: plan, browser: browser).run() }
        report.add("Papyrus") { try ObjectWorkload(plan: plan).run() }
        report.add("Nest") { try ItemWorkload(plan: plan).run() }
        guard !report.measurements.isEmpty || !report.failures.isEmpty else {
            throw ValidationError("no workload's name contains \"\(filter ?? "")\"")
        }
        print(report.table)
        if let output {
            try report.write(to: output)
            print("figures in \(output)")
        }
        for failure in report.failures { print(failure) }
        if !report.failures.isEmpty { throw ExitCode.failure }
    }

    private var rocksDB: String {
        #if ROCKSDB
        "RocksDB: log without a sync, not compressed, set up for point look-ups, a cache for all values"
        #else
        "RocksDB: left out, its package is not installed"
        #endif
    }

    private func preface(_ plan: Plan) -> String {
        let fileSystem = plan.scratch.fileSystem
        let memory = fileSystem.isMemory ? " (memory only: unlike the disk of a store)" : ""
        return """
            \(Figures.grouped(entries)) entries, keys of \(KeyBatch.keyBytes) bytes, values of \
            \(Plan.valueBytes) bytes, \(runs) runs; one thread but in P12; file system \(fileSystem.name)\(memory)
            durability: what a call stored survives the death of the process at once, for all
            Vellum: a collection, which like its peers never evicts; in P10 a cache whose limit is just reached by that \
            many entries
            LMDB \(LMDBSystem.version): MDB_NOSYNC, a transaction for each put, with and without MDB_WRITEMAP (the \
            slower of both in the first run only); for each look-up a read transaction renewed, or one for all
            SQLite \(SQLiteSystem.version): WAL, synchronous=NORMAL, WITHOUT ROWID, file mapped, prepared select
            \(rocksDB)
            GRDB: writes without an explicit transaction, WAL, synchronous=NORMAL, its statements cached
            P9: cities of the demonstration over and over; SQLite with and without JSON, no index but the primary key's
            clock: one reading costs \(plan.clockOverhead) ns, taken off each latency of P10
            the limit: the least that such an operation must do, without a lock for looking and with one for storing
            ratio: on a peer's line, its time to ours; on the limit's, our time to it; on a line of ours, our time to the \
            one it is held against

            """
    }
}
