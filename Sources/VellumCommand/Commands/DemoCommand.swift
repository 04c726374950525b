import ArgumentParser
import StorageEngine

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `vellum demo`.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Makes a store of cities and runs a workload on it in a second process.",
        discussion: """
            The archive City gets half of the space that its 6,204 cities need, so it evicts. The store is temporary \
            unless --store names one; VELLUM_STORE is left alone. The workload accesses, records and deletes cities, \
            the popular ones far more often than the others (Zipf's law).

            Progress goes to standard error and the closing figures of the workload to standard output.
            """)

    @OptionGroup var store: StoreArguments

    @Flag(help: "Keep the temporary store, and say where it is.")
    var keep = false

    @Option(help: ArgumentHelp("How long the workload runs.", valueName: "seconds"))
    var seconds = 10.0

    @Option(help: ArgumentHelp("Operations a second.", valueName: "count"))
    var rate = 2000

    @Option(help: ArgumentHelp("What the workload's random numbers start from.", valueName: "number"))
    var seed: UInt64 = 1

    @Flag(help: "Print the closing figures as one JSON object.")
    var json = false

    mutating func validate() throws {
        if !(1...1_000_000).contains(rate) { throw ValidationError("--rate is 1 to 1000000") }
        if !(seconds >= 0 && seconds <= 1e9) { throw ValidationError("--seconds is 0 to 1000000000") }
    }

    func run() throws {
        Interruption.collect()
        let dataPath = try DemoFile.path()
        let temporary = store.store == nil ? try TemporaryFolder() : nil
        defer { if !keep { temporary?.remove() } }
        let path = temporary?.path ?? store.store ?? ""
        if keep, let temporary { Narration.say("the store is \(temporary.path)") }
        try fill(path, with: try DemoData(path: dataPath))
        let figures = try work(on: path, dataPath)
        try printFigures(figures)
        if Interruption.isRequested { throw CommandFailure(nil, status: Interruption.status) }
    }

    private func fill(_ path: String, with data: DemoData) throws {
        let store = try Store.open(at: path, options: StoreOptions(processName: "vellum demo"))
        defer { store.close() }
        let archive = try store.archive(
            named: DemoData.archiveName,
            orCreate: ArchiveConfiguration(
                kind: .cache, diskLimit: UInt64(data.bytes / 2), typeName: DemoData.typeName))
        guard try archive.configuration().typeName == DemoData.typeName else {
            throw CommandFailure(
                "\(path) has an archive \(DemoData.archiveName) already that isn't the demonstration's",
                status: .usage)
        }
        for (key, value) in zip(data.keys, data.values) {
            try archive.put(value, forKey: key, encoding: .cbor)
        }
        Narration.say("recorded \(HumanText.entries(data.keys.count, bytes: UInt64(data.bytes))) of cities")
    }

    /// Runs the workload for its time, or until a signal asks to end.
    private func work(on path: String, _ dataPath: String) throws -> DemoFigures {
        let store = try Store.open(at: path, mode: .readOnly, createIfMissing: false)
        let archive = try store.archive(named: DemoData.archiveName)
        let before = try archive.status()
        let start = MonotonicClock.seconds()
        let workload = try WorkloadProcess(
            store: path, dataPath: dataPath, rate: rate, seed: seed, isSilent: false)
        defer { workload.end() }
        var nextReport = 1.0
        while !Interruption.isRequested {
            let elapsed = MonotonicClock.seconds() - start
            let left = seconds - elapsed
            guard left > 0 else { break }
            if workload.hasEnded() {
                throw CommandFailure("the workload ended too early", status: .storeFailure)
            }
            if elapsed >= nextReport {
                nextReport = elapsed.rounded(.down) + 1
                Narration.say(DemoFigures(from: before, to: try archive.status(), seconds: elapsed).progress)
            }
            // A signal ends the wait early.
            poll(nil, 0, Int32(min(left, nextReport - elapsed, 0.5) * 1000) + 1)
        }
        workload.end()
        let elapsed = MonotonicClock.seconds() - start
        return DemoFigures(from: before, to: try archive.status(), seconds: elapsed)
    }

    private func printFigures(_ figures: DemoFigures) throws(CommandFailure) {
        let output = OutputWriter()
        if json {
            var line: [UInt8] = []
            JSONText.appendObject(figures.members, to: &line)
            try output.write(line + [UInt8(ascii: "\n")])
        } else {
            for (name, cell) in figures.members {
                try output.write("\(name)\t\(output.isTerminal ? cell.human : cell.plain)\n")
            }
        }
        try output.flush()
    }
}
