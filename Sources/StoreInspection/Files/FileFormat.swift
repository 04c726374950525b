/// What a file of records is.
package enum FileFormat: String, CaseIterable, Sendable {
    case ndjson, json, csv, tsv

    /// What the name says; `.json` says nothing, for it is used for both arrays and lines.
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
