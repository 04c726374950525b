import Foundation
import FuzzTargets

/// The entry points of libFuzzer. `VELLUM_FUZZ_TARGET` names the target; with `VELLUM_FUZZ_SEEDS` its seeds are written
/// into that folder first. Single-threaded.
private struct Fuzzer {
    var target: any FuzzTarget

    init() throws {
        let environment = ProcessInfo.processInfo.environment
        let name = environment["VELLUM_FUZZ_TARGET"] ?? ""
        let all = FuzzTargets.all + [ImportTarget.self]
        guard let type = all.first(where: { $0.name == name }) else {
            throw FuzzerError(description: "no target \"\(name)\"; there are \(all.map { $0.name })")
        }
        if let folder = environment["VELLUM_FUZZ_SEEDS"] {
            for (number, seed) in try type.seeds().enumerated() {
                try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(number)"))
            }
        }
        target = try type.init()
    }
}

private struct FuzzerError: Error, CustomStringConvertible { let description: String }

/// libFuzzer has one thread and calls one function after the other.
nonisolated(unsafe) private var fuzzer: Fuzzer?

private func fail(_ failure: String) -> Never {
    FileHandle.standardError.write(Data("vellum-fuzz: failure: \(failure)\n".utf8))
    abort()
}

@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutableRawPointer) -> CInt {
    do { fuzzer = try Fuzzer() } catch {
        FileHandle.standardError.write(Data("vellum-fuzz: \(error)\n".utf8))
        exit(2)
    }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        let input = Array(UnsafeBufferPointer(start: bytes, count: count))
        if let failure = try fuzzer?.target.run(input) { fail(failure) }
    } catch {
        fail("the harness failed: \(error)")
    }
    return 0
}
