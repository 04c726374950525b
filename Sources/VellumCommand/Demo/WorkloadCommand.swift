/// `vellum workload`: the second process of the demonstration; hidden.
struct WorkloadCommand: ParsableCommand {
    static let name = "workload"

    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Runs the demonstration's workload until standard input ends.",
        shouldDisplay: false)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The file of cities (default: those in the program).", completion: .file())
    var data: String?

    @Option(help: "Operations a second.")
    var rate: Int

    @Option(help: "Seed of the random numbers.")
    var seed: UInt64

    @Flag(help: "Remove the store at the end, however the demonstration ended.")
    var removeStore = false

    func run() throws {
        Interruption.collect()
        let store = try store.openForWriting(creating: false, as: "vellum workload")
        defer {
            store.close()
            if removeStore { try? FileManager.default.removeItem(atPath: store.path) }
        }
        let data = try DemoData(path: data)
        var workload = try Workload(store, data, seed: seed)
        try workload.run(rate: rate)
    }
}
