/// Why a benchmark could not be carried out; a figure is never made up in its place.
struct BenchmarkError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
