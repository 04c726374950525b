import Foundation

/// Stops another process of this program at each system call or instruction (ptrace(2)). For one thread.
enum Tracer {
    enum Count: Hashable {
        case systemCall(Int)
        case instruction
        /// A call of a function that allocates.
        case allocation
    }

    typealias Counts = [Count: Int]

    private typealias Ptrace =
        @convention(c) (CInt, pid_t, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CLong

    #if os(Linux)
    /// The C library's function is variadic, and so not imported.
    private static let ptrace = dlsym(nil, "ptrace").map { unsafeBitCast($0, to: Ptrace.self) }
    #else
    private static let ptrace: Ptrace? = nil
    #endif

    // Of sys/ptrace.h, elf.h and sys/wait.h.
    private static let traceMe: CInt = 0
    private static let peekText: CInt = 1
    private static let pokeText: CInt = 4
    private static let goOn: CInt = 7
    private static let singleStep: CInt = 9
    private static let setOptions: CInt = 0x4200
    private static let getRegisters: CInt = 0x4204
    private static let setRegisters: CInt = 0x4205
    private static let seize: CInt = 0x4206
    private static let systemCallInfo: CInt = 0x420e
    private static let generalRegisters = 1
    private static let allThreads: CInt = 0x4000_0000
    /// Marks stops at system calls, traces new threads, and ends traced processes with the tracer.
    private static let options = 0x1 | 0x8 | 0x100000

    // A breakpoint: the instruction, its bits, and the offset of the program counter after it.
    #if arch(x86_64)
    private static let programCounter = 16
    private static let trap: (code: Int, mask: Int, length: UInt) = (0xcc, 0xff, 1)
    #else
    private static let programCounter = 32
    private static let trap: (code: Int, mask: Int, length: UInt) = (0xd420_0000, 0xffff_ffff, 0)
    #endif

    private static let allocators = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"]

    // MARK: Traced process

    /// Lets the process that started this one trace it, and waits until it does.
    static func waitForTracer() throws {
        let places = allocators.compactMap { dlsym(nil, $0) }.map { UInt(bitPattern: $0) }
        let line = places.map(String.init).joined(separator: " ") + "\n"
        FileHandle.standardOutput.write(Data(line.utf8))
        guard let ptrace, ptrace(traceMe, 0, nil, nil) == 0 else { throw failure() }
        raise(SIGSTOP)
    }

    // MARK: Tracer

    /// Traces a process until it ends, and counts events between the signals of each phase.
    static func phases(of process: pid_t, telling output: FileHandle, _ pass: Pass) throws -> [Counts] {
        guard let ptrace else { throw failure() }
        let told = String(decoding: output.availableData, as: UTF8.self)
        let places = told.split(whereSeparator: \.isWhitespace).compactMap { UInt($0) }
        // The instructions replaced by breakpoints.
        var planted: [UInt: Int] = [:]
        var phases: [Counts] = []
        var phase: Counts?
        while true {
            var status: CInt = 0
            let thread = waitpid(-1, &status, allThreads)
            guard thread > 0 else { throw failure() }
            guard status & 0xff == 0x7f else {
                if thread != process { continue }
                guard status == 0 else { throw Operation.Failure.notTraced("it ended with status \(status)") }
                return phases
            }
            guard thread == process else {
                try resumeThread(thread, stoppedBy: status, planted)
                continue
            }
            var delivered = CInt(0)
            switch status >> 8 {
            case SIGSTOP:
                guard ptrace(setOptions, process, nil, pointer(options)) == 0 else { throw failure() }
                for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task") {
                    if let other = pid_t(name), other != process {
                        _ = ptrace(seize, other, nil, pointer(options))
                    }
                }
                for place in pass == .allocations ? places : [] {
                    let word = ptrace(peekText, process, UnsafeMutableRawPointer(bitPattern: place), nil)
                    planted[place] = word
                    plant(word & ~trap.mask | trap.code, at: place, in: process)
                }
            case Worker.begin: phase = [:]
            case Worker.end:
                if let phase { phases.append(phase) }
                phase = nil
            case SIGTRAP | 0x80:
                if let number = systemCall(of: process) { phase?[.systemCall(number), default: 0] += 1 }
            case SIGTRAP where pass == .allocations:
                try step(process, over: planted)
                phase?[.allocation, default: 0] += 1
            case SIGTRAP: phase?[.instruction, default: 0] += 1
            // It has started a thread.
            case let event where event > 0xff: break
            case let other: delivered = other
            }
            let next = phase == nil ? goOn : pass.request
            _ = ptrace(next, process, nil, pointer(Int(delivered)))
        }
    }

    /// Other threads aren't counted, but stop at the breakpoints, too.
    private static func resumeThread(
        _ thread: pid_t, stoppedBy status: CInt, _ planted: [UInt: Int]
    ) throws {
        if status >> 8 == SIGTRAP { try step(thread, over: planted) }
        let isTracers = status >> 16 != 0 || status >> 8 == SIGTRAP || status >> 8 == SIGSTOP
        _ = ptrace?(goOn, thread, nil, pointer(isTracers ? 0 : Int(status >> 8)))
    }

    /// The number of the system call before which a process has stopped; nil after one.
    private static func systemCall(of process: pid_t) -> Int? {
        withUnsafeTemporaryAllocation(byteCount: 88, alignment: 8) { info in
            guard let ptrace, ptrace(systemCallInfo, process, pointer(info.count), info.baseAddress) > 0,
                info.load(as: UInt8.self) == 1
            else { return nil }
            return info.load(fromByteOffset: 24, as: Int.self)
        }
    }

    /// Executes the instruction replaced by a breakpoint, and restores the breakpoint.
    private static func step(_ process: pid_t, over planted: [UInt: Int]) throws {
        try withUnsafeTemporaryAllocation(of: UInt.self, capacity: 40) { registers in
            registers.initialize(repeating: 0)
            var vector = iovec(iov_base: registers.baseAddress, iov_len: registers.count * 8)
            guard let ptrace, ptrace(getRegisters, process, pointer(generalRegisters), &vector) == 0 else {
                throw failure()
            }
            let place = registers[programCounter] - trap.length
            guard let word = planted[place] else { throw Operation.Failure.notTraced("a trap at \(place)") }
            registers[programCounter] = place
            _ = ptrace(setRegisters, process, pointer(generalRegisters), &vector)
            plant(word, at: place, in: process)
            _ = ptrace(singleStep, process, nil, nil)
            var status: CInt = 0
            guard waitpid(process, &status, allThreads) == process else { throw failure() }
            plant(word & ~trap.mask | trap.code, at: place, in: process)
        }
    }

    private static func plant(_ word: Int, at place: UInt, in process: pid_t) {
        _ = ptrace?(pokeText, process, UnsafeMutableRawPointer(bitPattern: place), pointer(word))
    }

    private static func pointer(_ value: Int) -> UnsafeMutableRawPointer? { .init(bitPattern: value) }

    private static func failure() -> Operation.Failure { .notTraced(String(cString: strerror(errno))) }
}

extension Pass {
    /// The request that continues a process within a phase: to the next system call, by one instruction, to the next
    /// breakpoint.
    fileprivate var request: CInt {
        switch self {
        case .systemCalls: 24
        case .instructions: 9
        case .pageFaults, .allocations: 7
        }
    }
}
