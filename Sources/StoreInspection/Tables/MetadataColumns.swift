import StorageEngine

package enum MetadataColumns {
    package static let columns = [
        Column("key", title: "KEY"), Column("size", title: "SIZE"), Column("tier", title: "TIER", dropped: 4),
        Column("created", title: "CREATED", dropped: 1), Column("accessed", title: "ACCESSED", dropped: 3),
        Column("expires", title: "EXPIRES"), Column("hits", title: "HITS"), Column("owner", title: "OWNER"),
        Column("rank", title: "RANK", dropped: 2),
    ]
    /// Those of S3-FIFO.
    package static let queueColumns = [
        Column("queue", title: "QUEUE"), Column("frequency", title: "FREQUENCY", dropped: 0),
    ]

    package static func cells(_ metadata: EntryMetadata, now: Timestamp = .now()) -> [Cell] {
        [
            .text(metadata.key), .bytes(UInt64(metadata.valueBytes)), .text(metadata.tier.rawValue),
            Cell(metadata.created), Cell(metadata.accessed),
            metadata.expires.map { .deadline($0, now: now) } ?? .absent,
            .count(UInt64(metadata.hits)),
            Cell(metadata.owner), metadata.rank.map { .count(UInt64($0)) } ?? .absent,
        ] + (metadata.queue.map { [.text($0.name), .count(UInt64($0.frequency))] } ?? [])
    }

    package static func members(_ metadata: EntryMetadata) -> [(name: String, value: Cell)] {
        zip(columns + queueColumns, cells(metadata)).map { ($0.name, $1) }
    }

    package static func entry(_ members: [(name: String, value: Cell)], value: JSONTree) -> JSONTree {
        .object([("meta", .cells(members)), ("value", value)])
    }
}
