import CPlatform

/// A process with the archive open for writing, and its counters, changed atomically: OnDiskFormat, "The process table".
struct ProcessSlot: Sendable {
    static let nameBytes = 63
    private static let nameOffset = 64

    private let address: UInt
    /// Position in the table, which is the process's bit in the words of ``Residency``.
    let line: Int

    @inline(__always) private var base: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
    }

    @inline(__always) init(_ base: UnsafeMutableRawPointer, line: Int) {
        address = UInt(bitPattern: base)
        self.line = line
    }

    var pid: UInt32 { cp_load32(base) }
    /// The namespaces in which process number and start time are valid (``Namespaces/line``); 0: unknown.
    var namespace: UInt32 { cp_relaxed32(base + 4) }
    var start: UInt64 { cp_relaxed64(base + 8) }
    var attached: Int64 { Int64(bitPattern: cp_relaxed64(base + 16)) }
    var hits: UInt64 { cp_relaxed64(base + 24) }
    var misses: UInt64 { cp_relaxed64(base + 32) }
    @inline(__always) func addHit() { _ = cp_add64(base + 24, 1) }
    @inline(__always) func addMiss() { _ = cp_add64(base + 32, 1) }
    var memoryBytes: UInt64 { cp_relaxed64(base + 40) }
    func setMemoryBytes(_ value: UInt64) { cp_relaxed_store64(base + 40, value) }
    var memoryLimit: UInt64 { cp_relaxed64(base + 48) }
    func setMemoryLimit(_ value: UInt64) { cp_relaxed_store64(base + 48, value) }
    /// Whether the process's program has the policy. All programs have LRU.
    func knows(_ policy: EvictionPolicy) -> Bool { cp_relaxed32(base + 56) >= policy.rawValue }

    /// Copied word by word: others may read it while it is written.
    var name: String {
        var bytes: [UInt8] = []
        for offset in stride(from: ProcessSlot.nameOffset, to: IndexLayout.processSlotBytes, by: 8) {
            withUnsafeBytes(of: cp_relaxed64(base + offset)) { bytes += $0 }
        }
        let count = min(Int(bytes[0]), ProcessSlot.nameBytes)
        return String(decoding: bytes[1..<1 + count], as: UTF8.self)
    }

    /// Fills a cleared slot. The process number is stored last.
    fileprivate func fill(_ identity: ProcessIdentity, name: String, memoryLimit: UInt64) {
        cp_relaxed_store32(base + 4, Namespaces.line)
        cp_relaxed_store64(base + 8, identity.start)
        cp_relaxed_store64(base + 16, UInt64(bitPattern: Clock.wall()))
        let name = name.utf8.prefix(ProcessSlot.nameBytes)
        var bytes = [UInt8(name.count)] + name
        bytes += [UInt8](repeating: 0, count: 1 + ProcessSlot.nameBytes - bytes.count)
        bytes.withUnsafeBytes { words in
            for offset in stride(from: 0, to: words.count, by: 8) {
                cp_relaxed_store64(
                    base + ProcessSlot.nameOffset + offset,
                    words.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
        }
        setMemoryLimit(memoryLimit)
        cp_relaxed_store32(base + 56, UInt32(EvictionPolicy.s3fifo.rawValue))
        cp_store32(base, UInt32(bitPattern: identity.pid))
    }

    var identity: ProcessIdentity { ProcessIdentity(pid: Int32(bitPattern: pid), start: start) }

    fileprivate func clear() {
        cp_relaxed_store32(base + 4, 0)
        for offset in stride(from: 8, to: IndexLayout.processSlotBytes, by: 8) {
            cp_relaxed_store64(base + offset, 0)
        }
        cp_store32(base, 0)
    }
}

/// The slots of the process table. A view of the mapped index. Invariants: a slot is taken and released under the lock; its process
/// number is stored last and cleared last. Only its process changes its counters. Readers check that the process is alive.
struct ProcessTable {
    private let base: UnsafeMutableRawPointer

    @inline(__always) fileprivate init(_ memory: IndexBytes) {
        base = memory.base + IndexLayout.processTableOffset
    }

    /// A number outside the table is clamped.
    @inline(__always) subscript(number: Int) -> ProcessSlot {
        let bounded = min(max(number, 0), IndexLayout.processSlots - 1)
        return ProcessSlot(base + bounded * IndexLayout.processSlotBytes, line: bounded)
    }

    var attached: [ProcessSlot] { (0..<IndexLayout.processSlots).map { self[$0] }.filter { $0.pid != 0 } }
}

extension MappedIndex {
    @inline(__always) var processes: ProcessTable { ProcessTable(memory) }
}

extension ChangingIndex {
    /// Takes a slot for this process, and locks its byte of `attachment`. If all are taken, shares the last slot.
    func attach(_ identity: ProcessIdentity, name: String, memoryLimit: UInt64, attachment: FileDescriptor)
        throws(StorageError) -> ProcessSlot
    {
        var free: Int?
        for line in 0..<IndexLayout.processSlots where free == nil && processes[line].pid == 0 {
            // A forked child of a dead process may still hold the lock of its slot.
            if try attachment.lockByte(line) { free = line }
        }
        guard let free else { return processes[IndexLayout.processSlots - 1] }
        let slot = processes[free]
        slot.clear()
        slot.fill(identity, name: name, memoryLimit: memoryLimit)
        return slot
    }

    func detach(_ slot: ProcessSlot) {
        add(.hits, slot.hits)
        add(.misses, slot.misses)
        slot.clear()
    }
}
