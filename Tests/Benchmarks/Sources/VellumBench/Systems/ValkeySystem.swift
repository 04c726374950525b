import Foundation

/// A Valkey or Redis server, where one is installed, on a Unix socket, with one request at a time and no files. Shows the
/// time of a round trip; not compared.
final class ValkeySystem: KeyValueSystem {
    let name: String
    private let server: pid_t
    private let socketPath: String
    private let connection: Int32
    private var request: [UInt8] = []
    private var answer: [UInt8]

    /// `nil`: not installed.
    static let program = ["valkey-server", "redis-server"].first {
        (try? ChildProcess.run([$0, "--version"], output: "/dev/null")) != nil
    }

    /// `nil`: not installed.
    init?(at path: String, valueBytes: Int) throws {
        guard let program = ValkeySystem.program else { return nil }
        name = "\(program), nothing survives"
        // The path of a socket must be short.
        socketPath = FileManager.default.temporaryDirectory.path + "/vellum-bench-\(getpid()).socket"
        answer = [UInt8](repeating: 0, count: valueBytes + 64)
        unlink(socketPath)
        server = try ChildProcess.start(
            [
                program, "--port", "0", "--unixsocket", socketPath, "--save", "", "--appendonly", "no",
                "--dir",
                path,
            ], .output(path + "/log"))
        var found: Int32?
        for _ in 0..<200 where found == nil {
            found = ValkeySystem.connect(to: socketPath)
            if found == nil { usleep(25_000) }
        }
        guard let found else {
            kill(server, SIGTERM)
            ChildProcess.end(of: server)
            throw BenchmarkError("\(program) doesn't answer")
        }
        connection = found
    }

    private static func connect(to path: String) -> Int32? {
        #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard path.utf8.count < place.count else { return false }
            place.copyBytes(from: path.utf8)
            return true
        }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard fits, status == 0 else {
            Foundation.close(descriptor)
            return nil
        }
        return descriptor
    }

    func put(_ batch: KeyBatch, _ place: Int, _ values: ValuePool, generation: Int) throws {
        begin("*3\r\n$3\r\nSET\r\n", batch, place)
        request += "$\(values.valueBytes)\r\n".utf8
        request += UnsafeRawBufferPointer(
            start: values.pointer(batch.ids[place], generation: generation), count: values.valueBytes)
        request += [13, 10]
        try send()
        guard try receive(while: { $0 < 5 }) == 5, answer[0] == UInt8(ascii: "+") else {
            throw BenchmarkError("\(name): SET")
        }
    }

    func read(_ batch: KeyBatch, _ place: Int) throws -> UInt64 {
        begin("*2\r\n$3\r\nGET\r\n", batch, place)
        try send()
        var value = 0..<0
        // "$", length, line end, value, line end.
        _ = try receive { [self] count in
            guard let end = answer[..<count].firstIndex(of: 10) else { return true }
            guard let bytes = Int(String(decoding: answer[1..<end - 1], as: UTF8.self)), bytes >= 0 else {
                return false
            }
            value = end + 1..<end + 1 + bytes
            return count < value.upperBound + 2
        }
        guard !value.isEmpty else { throw BenchmarkError("\(name): GET") }
        return answer.withUnsafeBytes { batch.digest(UnsafeRawBufferPointer(rebasing: $0[value])) }
    }

    private func begin(_ command: String, _ batch: KeyBatch, _ place: Int) {
        request.removeAll(keepingCapacity: true)
        request += command.utf8
        request += "$\(KeyBatch.keyBytes)\r\n".utf8
        request += UnsafeRawBufferPointer(start: batch.pointer(place), count: KeyBatch.keyBytes)
        request += [13, 10]
    }

    private func send() throws {
        var sent = 0
        while sent < request.count {
            let count = request[sent...].withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            guard count > 0 else { throw BenchmarkError("\(name): write") }
            sent += count
        }
    }

    /// - Returns: the number of received bytes.
    private func receive(while isIncomplete: (_ count: Int) -> Bool) throws -> Int {
        var count = 0
        repeat {
            let come = answer.withUnsafeMutableBytes {
                let free = UnsafeMutableRawBufferPointer(rebasing: $0[count...])
                return Foundation.read(connection, free.baseAddress, free.count)
            }
            guard come > 0 else { throw BenchmarkError("\(name): read") }
            count += come
        } while isIncomplete(count)
        return count
    }

    func close() {
        Foundation.close(connection)
        kill(server, SIGTERM)
        ChildProcess.end(of: server)
        unlink(socketPath)
    }
}
