import ArchiveQuery

enum Interval {
    @Sendable static func parse(_ text: String) throws -> Duration {
        do throws(DurationFault) {
            return try DurationText.interval(text)
        } catch {
            throw ValidationError(error.description)
        }
    }

    static func require(seconds: Double) throws {
        if !(0...1e9).contains(seconds) { throw ValidationError("--seconds must be 0 to 1000000000") }
    }
}
