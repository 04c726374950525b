import ArgumentParser

/// Sendable value type. What export writes.
enum ExportFormat: String, CaseIterable, Sendable, ExpressibleByArgument {
    case ndjson, csv
}
