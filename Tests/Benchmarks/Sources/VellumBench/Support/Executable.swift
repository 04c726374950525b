import Foundation

extension FileManager {
    /// The path of this program, however it was started.
    func destinationOfExecutable() throws -> String {
        guard let path = Bundle.main.executablePath else {
            throw BenchmarkError("the path of this program is unknown")
        }
        return path
    }
}
