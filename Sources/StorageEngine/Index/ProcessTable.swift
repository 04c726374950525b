import CPlatform

/// Who has the archive open for writing, with each one's own counters.
///
/// A slot is taken and given back under the archive's lock; its counters are added to by its owner with
/// atomic instructions and read by anyone. Layout: OnDiskFormat, "The process table".
struct ProcessSlot: Sendable {
    static let nameBytes = 63

    private let address: UInt
    /// Its place in the table, which is its bit in words of residency.
    let line: Int

    @inline(__always)
    private var base: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
    }

    init(_ base: UnsafeMutableRawPointer, line: Int) {
        address = UInt(bitPattern: base)
        self.line = line
    }

    var pid: UInt32 {
        get { cp_load32(base) }
        nonmutating set { cp_store32(base, newValue) }
    }
    /// In which namespaces the pid and the start time mean something (``Namespaces/line``); 0: not known.
    var namespace: UInt32 {
        get { cp_relaxed32(base + 4) }
        nonmutating set { cp_relaxed_store32(base + 4, newValue) }
    }
    var start: UInt64 {
        get { cp_relaxed64(base + 8) }
        nonmutating set { cp_relaxed_store64(base + 8, newValue) }
    }
    var attached: Int64 {
        get { Int64(bitPattern: cp_relaxed64(base + 16)) }
        nonmutating set { cp_relaxed_store64(base + 16, UInt64(bitPattern: newValue)) }
    }
    var hits: UInt64 { cp_relaxed64(base + 24) }
    var misses: UInt64 { cp_relaxed64(base + 32) }
    @inline(__always) func addHit() { _ = cp_add64(base + 24, 1) }
    @inline(__always) func addMiss() { _ = cp_add64(base + 32, 1) }
    var memoryBytes: UInt64 {
        get { cp_relaxed64(base + 40) }
        nonmutating set { cp_relaxed_store64(base + 40, newValue) }
    }
    var memoryLimit: UInt64 {
        get { cp_relaxed64(base + 48) }
        nonmutating set { cp_relaxed_store64(base + 48, newValue) }
    }

    var name: String {
        get {
            let count = min(Int((base + 64).load(as: UInt8.self)), ProcessSlot.nameBytes)
            return String(decoding: UnsafeRawBufferPointer(start: base + 65, count: count), as: UTF8.self)
        }
        nonmutating set {
            let bytes = Array(newValue.utf8.prefix(ProcessSlot.nameBytes))
            (base + 64).storeBytes(of: UInt8(bytes.count), as: UInt8.self)
            for (offset, byte) in bytes.enumerated() {
                (base + 65 + offset).storeBytes(of: byte, as: UInt8.self)
            }
        }
    }

    var identity: ProcessIdentity { ProcessIdentity(pid: Int32(bitPattern: pid), start: start) }

    fileprivate func clear() {
        namespace = 0
        for offset in stride(from: 8, to: IndexLayout.processSlotBytes, by: 8) {
            cp_relaxed_store64(base + offset, 0)
        }
        pid = 0
    }
}

/// The lines of the process table: a view of the mapped index, valid as long as that is.
///
/// Invariants: a line is taken and given back by whoever has a section, its pid stored last when it is taken and cleared
/// last when it goes; while it is taken its counters are its process' own. Readers need no lock, and ask of each line
/// whether its process lives.
struct ProcessTable {
    private let base: UnsafeMutableRawPointer

    fileprivate init(_ memory: IndexDoor) { base = memory.base + IndexLayout.processTableOffset }

    /// The one door to the lines; a number that is none is that of the nearest.
    subscript(number: Int) -> ProcessSlot {
        let bounded = min(max(number, 0), IndexLayout.processSlots - 1)
        return ProcessSlot(base + bounded * IndexLayout.processSlotBytes, line: bounded)
    }

    var attached: [ProcessSlot] { (0..<IndexLayout.processSlots).map { self[$0] }.filter { $0.pid != 0 } }
}

extension MappedIndex {
    var processes: ProcessTable { ProcessTable(memory) }
}

extension ChangingIndex {
    /// Takes a line for this process, with the lock of its byte of `attachment` (``Liveness``). With more processes than
    /// lines the last one is shared.
    func attach(_ identity: ProcessIdentity, name: String, memoryLimit: UInt64, attachment: OpenFile)
        throws(StorageError) -> ProcessSlot
    {
        var free: Int?
        for line in 0..<IndexLayout.processSlots where free == nil && processes[line].pid == 0 {
            // A forked child of one that had the line, and died, may still have its lock.
            if try attachment.lockByte(line) { free = line }
        }
        guard let free else { return processes[IndexLayout.processSlots - 1] }
        let slot = processes[free]
        slot.clear()
        slot.namespace = Namespaces.line
        slot.start = identity.start
        slot.attached = Clock.wall()
        slot.name = name
        slot.memoryLimit = memoryLimit
        slot.pid = UInt32(bitPattern: identity.pid)
        return slot
    }

    /// Keeps a line's counts for the archive and gives the line back.
    func detach(_ slot: ProcessSlot) {
        add(.hits, slot.hits)
        add(.misses, slot.misses)
        slot.clear()
    }
}
