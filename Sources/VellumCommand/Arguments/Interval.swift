import ArchiveQuery
import ArgumentParser

enum Interval {
    @Sendable static func parse(_ text: String) throws -> Duration {
        do throws(DurationFault) {
            return try DurationText.interval(text)
        } catch {
            throw ValidationError(error.description)
        }
    }
}
