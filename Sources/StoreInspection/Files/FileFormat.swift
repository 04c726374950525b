package enum FileFormat: String, CaseIterable, Sendable {
    case ndjson, json, csv, tsv

    /// The format of the file name's extension; nil for `.json`, which may be one array or one object per line.
    package init?(fileName: String) {
        let name = fileName.lowercased()
        let endings: [(String, FileFormat)] = [
            (".ndjson", .ndjson), (".jsonl", .ndjson), (".ldjson", .ndjson), (".csv", .csv), (".tsv", .tsv),
            (".tab", .tsv),
        ]
        guard let match = endings.first(where: { name.hasSuffix($0.0) }) else { return nil }
        self = match.1
    }
}
