import Foundation

/// Exchanges numbers with the other program through two named pipes. Used by one thread.
final class Peer {
    private let input: Int32
    private let output: Int32

    /// Opening a pipe waits for the other program, so the two open them in opposite orders.
    init(isFirst: Bool, input: String, output: String) {
        if isFirst {
            self.output = open(output, O_WRONLY)
            self.input = open(input, O_RDONLY)
        } else {
            self.input = open(input, O_RDONLY)
            self.output = open(output, O_WRONLY)
        }
        if self.input < 0 || self.output < 0 { exit(3) }
    }

    func say(_ numbers: Int...) {
        let sent = numbers.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
        if sent != numbers.count * MemoryLayout<Int>.size { exit(4) }
    }

    func hear() -> Int {
        var number = 0
        let size = MemoryLayout<Int>.size
        let count = withUnsafeMutableBytes(of: &number) { read(input, $0.baseAddress, size) }
        if count != size { exit(5) }
        return number
    }
}
