struct SelectionArguments: ParsableArguments {
    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.", completion: .archives)
    var archive: String

    @Argument(help: "The keys of the entries.", completion: .keys)
    var keys: [WordList] = []

    @Flag(help: "All entries of the archive.")
    var all = false

    @Option(
        help: ArgumentHelp("The entries of this owner.", valueName: "name"), completion: .owners,
        transform: OwnerName.parse)
    var owner: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "The entries that meet this condition, in the syntax of find in vellum query.",
            valueName: "condition"))
    var condition: String?

    @Flag(help: "Only print the number of entries and bytes.")
    var dryRun = false

    @Flag(help: "Don't ask.")
    var yes = false

    @OptionGroup var remote: RemoteWriting

    @OptionGroup var reading: ValueReading

    func requireAny() throws {
        if isEmpty { throw ValidationError("select entries: keys, --owner NAME, --where CONDITION or --all") }
    }

    private var isEmpty: Bool { keys.isEmpty && !all && owner == nil && condition == nil }

    mutating func validate() throws {
        if [!keys.isEmpty, all, owner != nil, condition != nil].count(where: { $0 }) > 1 {
            throw ValidationError("pass either keys, --owner, --where or --all")
        }
    }
}
