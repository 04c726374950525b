struct EntryArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The entry's TTL: 500ms, 90s, 5m, 2h, 3d (default: no expiry).", valueName: "duration"),
        transform: Interval.parse)
    var expires: Duration?

    @Option(
        help: ArgumentHelp(
            "TTL of a copy that a process reads into memory (default: until evicted).",
            valueName: "duration"), transform: Interval.parse)
    var memoryExpires: Duration?

    @Option(
        help: ArgumentHelp("The entry's owner, 1 to 255 bytes.", valueName: "name"), completion: .owners,
        transform: OwnerName.parse)
    var owner: String?

    var attributes: EntryAttributes {
        EntryAttributes(lifetime: expires, memoryLifetime: memoryExpires, owner: owner)
    }
}
