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

    func clear() {
        namespace = 0
        for offset in stride(from: 8, to: IndexLayout.processSlotBytes, by: 8) {
            cp_relaxed_store64(base + offset, 0)
        }
        pid = 0
    }
}

extension IndexMemory {
    func processSlot(_ number: Int) -> ProcessSlot {
        let bounded = min(max(number, 0), IndexLayout.processSlots - 1)
        return ProcessSlot(
            base + IndexLayout.processTableOffset + bounded * IndexLayout.processSlotBytes, line: bounded)
    }

    /// Takes a slot for this process. With more processes than slots the last one is shared. Needs the lock.
    func attach(_ identity: ProcessIdentity, name: String, memoryLimit: UInt64, attachment: OpenFile)
        throws(StorageError) -> ProcessSlot
    {
        var free: Int?
        for line in 0..<IndexLayout.processSlots where free == nil && processSlot(line).pid == 0 {
            // A forked child of one that had the line, and died, may still have its lock.
            if try attachment.lockByte(line) { free = line }
        }
        guard let free else { return processSlot(IndexLayout.processSlots - 1) }
        let slot = processSlot(free)
        slot.clear()
        slot.namespace = Namespaces.line
        slot.start = identity.start
        slot.attached = Clock.wall()
        slot.name = name
        slot.memoryLimit = memoryLimit
        slot.pid = UInt32(bitPattern: identity.pid)
        return slot
    }

    /// Keeps a slot's counts for the archive and gives the slot back. Needs the lock.
    func detach(_ slot: ProcessSlot) {
        add(.hits, slot.hits)
        add(.misses, slot.misses)
        slot.clear()
    }

    var attachedSlots: [ProcessSlot] {
        (0..<IndexLayout.processSlots).map(processSlot).filter { $0.pid != 0 }
    }
}
