import ArchiveQuery
import ArgumentParser

/// A duration: `500ms`, `90s`, `1h30m`, `3d`.
enum Interval {
    @Sendable static func parse(_ text: String) throws -> Duration {
        do throws(DurationFault) {
            return try DurationText.interval(text)
        } catch {
            throw ValidationError(error.description)
        }
    }
}
