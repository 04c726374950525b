import ArgumentParser
import StorageEngine

struct EntryArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long the entry lives: 500ms, 90s, 5m, 2h, 3d (default: until it is deleted or evicted).",
            valueName: "duration"),
        transform: Interval.parse)
    var expires: Duration?

    @Option(
        help: ArgumentHelp(
            "How long a process may keep it in memory after reading it from disk (default: while there is room).",
            valueName: "duration"),
        transform: Interval.parse)
    var memoryExpires: Duration?

    @Option(
        help: ArgumentHelp("The group that the entry belongs to, 1 to 255 bytes.", valueName: "name"),
        completion: .owners,
        transform: OwnerName.parse)
    var owner: String?

    var attributes: EntryAttributes {
        EntryAttributes(
            lifetime: expires, memoryLifetime: memoryExpires, owner: owner)
    }
}
