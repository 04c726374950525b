import ArgumentParser

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Sendable value type. What export writes.
enum ExportFormat: String, CaseIterable, Sendable, ExpressibleByArgument {
    case ndjson, json, csv, tsv

    /// What a file's name says; lines of JSON for standard output, and for what is no regular file, such as a pipe.
    init(fileName: String) throws(CommandFailure) {
        var status = stat()
        let isThere = fileName != "-" && stat(fileName, &status) == 0
        if fileName == "-" || isThere && status.st_mode & S_IFMT != S_IFREG {
            self = .ndjson
        } else if let format = ImportFormat(fileName: fileName) {
            self = ExportFormat(rawValue: format.rawValue) ?? .ndjson
        } else if fileName.lowercased().hasSuffix(".json") {
            self = .json
        } else {
            throw CommandFailure(
                "\(fileName): the name doesn't tell what to write; let it end with .ndjson, .json, .csv or .tsv, or say "
                    + "--format (for a compressed file: vellum export … | gzip > FILE.gz)", status: .usage)
        }
    }
}
