import ArchiveQuery
import ArgumentParser

/// Sendable value type. A length of time as a person writes it: `500ms`, `90s`, `1h30m`, `3d`.
struct Interval: Sendable, Hashable {
    let duration: Duration
    /// As it was written.
    let text: String

    /// For options that take one.
    @Sendable static func parse(_ text: String) throws -> Interval {
        do throws(DurationFault) {
            return Interval(duration: try DurationText.interval(text), text: text)
        } catch {
            throw ValidationError(error.description)
        }
    }
}
