/// What a file of records is.
package enum FileFormat: String, CaseIterable, Sendable {
    case ndjson, json, csv, tsv

    /// The format that the name implies; none for `.json`, which is used both for arrays and for lines.
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
