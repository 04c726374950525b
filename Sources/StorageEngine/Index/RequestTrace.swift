import CPlatform
import Synchronization

/// Layout of the file of sampled requests: OnDiskFormat, "The request trace".
enum RequestLayout {
    static let magic: UInt64 = 0x5453_5145_524D_4C56  // "VLMREQST" read as a little-endian integer
    static let version: UInt32 = 1
    static let identityOffset = 16
    static let nextOffset = 64
    static let cellsOffset = 72
    static let headerBytes = 4096
    static let cellBytes = 32
    static let leastCells: UInt32 = 2048
    static let mostCells: UInt32 = 131_072
    /// The number of cells is doubled once half are used, up to this number or, if that is more, to ``cellsForEntry`` for each entry.
    static let enoughCells: UInt32 = 16_384
    static let cellsForEntry: UInt32 = 64
    /// A doubling takes at most one of this number of parts of the free disk space.
    static let freeSpaceParts: UInt64 = 16
    /// Number of sampled entries above which the threshold is halved. It is doubled below a quarter of that.
    static let mostSampled: UInt64 = 4096

    static func bytes(cells: UInt32) -> Int { headerBytes + Int(cells) * cellBytes }

    static func isValid(cells: UInt32) -> Bool {
        cells >= leastCells && cells <= mostCells && cells & (cells - 1) == 0
    }
}

/// A mapped file of sampled requests, unmapped with the last reference. Recording takes no lock: a number is claimed by an atomic
/// addition, and its cell gets the number last. A failure to map or extend the file is never an error of the archive.
final class RequestTrace: @unchecked Sendable {
    private let folder: FileDescriptor
    private let number: FileDescriptor.FileNumber
    private let range: MappedRange
    private let base: UnsafeMutableRawPointer
    /// Cells that the file is known to have; only grows. Cells beyond are never accessed (F4).
    private let known: Atomic<UInt32>
    /// Whether the file couldn't be extended. That isn't tried again, because each attempt allocates what a full disk has left.
    private let cannotGrow = Atomic(false)

    private init(
        _ file: FileDescriptor, in folder: FileDescriptor, cells: UInt32, writable: Bool
    ) throws(StorageError) {
        self.folder = folder
        number = try file.status().number
        range = try MappedRange(
            file, bytes: RequestLayout.bytes(cells: writable ? RequestLayout.mostCells : cells),
            writable: writable)
        base = range.base
        known = Atomic(cells)
    }

    /// Maps the file for recording; makes a new one if it is missing or unusable. Requires the open lock.
    static func open(in folder: FileDescriptor, of archive: [UInt8], salt: UInt64) -> RequestTrace? {
        guard ProcessLimit.addresses == nil else { return nil }
        if let (file, cells) = try? existing(in: folder, of: archive, salt: salt, writable: true) {
            return try? RequestTrace(file, in: folder, cells: cells, writable: true)
        }
        return try? make(in: folder, of: archive, salt: salt)
    }

    /// Maps the file for reading only.
    static func observe(in folder: FileDescriptor, of archive: [UInt8], salt: UInt64) -> RequestTrace? {
        guard let (file, cells) = try? existing(in: folder, of: archive, salt: salt, writable: false) else {
            return nil
        }
        return try? RequestTrace(file, in: folder, cells: cells, writable: false)
    }

    private static func existing(
        in folder: FileDescriptor, of archive: [UInt8], salt: UInt64, writable: Bool
    ) throws(StorageError) -> (FileDescriptor, cells: UInt32)? {
        guard let file = try folder.fileIfPresent(named: ArchiveFile.requests, writable: writable) else {
            return nil
        }
        let header = try file.read(atMost: RequestLayout.headerBytes)
        let fixed = self.header(of: archive, salt: salt)
        guard header.count == RequestLayout.headerBytes, header.starts(with: fixed) else { return nil }
        var reader = ByteReader(header)
        _ = reader.take(RequestLayout.cellsOffset)
        let cells = reader.uint32()
        let status = try file.status()
        let bytes = RequestLayout.bytes(cells: cells)
        // A longer file isn't one of the engine, and would be allocated.
        guard RequestLayout.isValid(cells: cells),
            (bytes...RequestLayout.bytes(cells: RequestLayout.mostCells)).contains(status.bytes)
        else { return nil }
        if writable, status.allocatedBytes < bytes { try file.reserveBlocks(bytes) }
        return (file, cells)
    }

    /// The fields that never change.
    private static func header(of archive: [UInt8], salt: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(RequestLayout.magic)
        writer.append(RequestLayout.version)
        writer.pad(to: RequestLayout.identityOffset)
        writer.append(archive)
        writer.append(salt)
        return writer.bytes
    }

    private static func make(
        in folder: FileDescriptor, of archive: [UInt8], salt: UInt64
    ) throws(StorageError) -> RequestTrace {
        try folder.unlink(ArchiveFile.newRequests)
        let file = try folder.newFile(named: ArchiveFile.newRequests)
        return try StorageError.rethrowing(after: { try? folder.unlink(ArchiveFile.newRequests) }) {
            () throws(StorageError) in
            try file.reserveBlocks(RequestLayout.bytes(cells: RequestLayout.leastCells))
            var writer = ByteWriter()
            writer.append(header(of: archive, salt: salt))
            writer.pad(to: RequestLayout.cellsOffset)
            writer.append(RequestLayout.leastCells)
            try file.write(writer.bytes)
            try folder.rename(ArchiveFile.newRequests, to: ArchiveFile.requests)
            return try RequestTrace(file, in: folder, cells: RequestLayout.leastCells, writable: true)
        }
    }

    private func field(_ offset: Int) -> UnsafeMutableRawPointer { base + offset }

    private func cell(_ sequence: UInt64, of cells: UInt32) -> UnsafeMutableRawPointer {
        field(RequestLayout.headerBytes + Int(sequence & UInt64(cells - 1)) * RequestLayout.cellBytes)
    }

    /// Number of the next sample.
    var next: UInt64 { cp_load64(field(RequestLayout.nextOffset)) }

    var cells: UInt32 {
        let known = known.load(ordering: .relaxed)
        return cp_load32(field(RequestLayout.cellsOffset)) == known ? known : learn(known)
    }

    /// Trusts the header only as far as the file reaches.
    private func learn(_ known: UInt32) -> UInt32 {
        let claimed = cp_load32(field(RequestLayout.cellsOffset))
        guard claimed > known, RequestLayout.isValid(cells: claimed),
            RequestLayout.bytes(cells: claimed) <= range.bytes,
            let status = try? folder.status(ofEntry: ArchiveFile.requests), status.number == number,
            status.bytes >= RequestLayout.bytes(cells: claimed)
        else { return known }
        self.known.store(claimed, ordering: .relaxed)
        return claimed
    }

    /// Doubles the cells if they are too few for this number of entries and half are used, so that none is overwritten before. On
    /// an almost full disk the space is left to the segments. Requires the archive's lock.
    func grow(forEntries entries: Int) {
        let present = cells
        let wanted = max(
            UInt64(RequestLayout.enoughCells), UInt64(max(0, entries)) * UInt64(RequestLayout.cellsForEntry))
        guard present < min(wanted, UInt64(RequestLayout.mostCells)), next >= present / 2,
            !cannotGrow.load(ordering: .relaxed), cp_load32(field(RequestLayout.cellsOffset)) == present
        else { return }
        let more = present * 2
        let bytes = UInt64(RequestLayout.bytes(cells: present))
        guard let file = try? folder.fileIfPresent(named: ArchiveFile.requests, writable: true),
            (try? file.status())?.number == number,
            file.availableBytes() / RequestLayout.freeSpaceParts >= bytes,
            (try? file.reserveBlocks(RequestLayout.bytes(cells: more))) != nil
        else { return cannotGrow.store(true, ordering: .relaxed) }
        known.store(more, ordering: .relaxed)
        cp_store32(field(RequestLayout.cellsOffset), more)
    }

    func record(_ request: SampledRequest) {
        let sequence = cp_add64(field(RequestLayout.nextOffset), 1)
        let cell = cell(sequence, of: cells)
        let (tag, owner, bytes, expiry, packed) = request.words
        cp_relaxed_store64(cell, 0)
        cp_store_fence()
        cp_relaxed_store64(cell + 8, UInt64(tag) | UInt64(owner) << 32)
        cp_relaxed_store64(cell + 16, UInt64(bytes) | UInt64(expiry) << 32)
        cp_relaxed_store64(cell + 24, packed)
        cp_store64(cell, sequence &+ 1)
    }

    enum Cell {
        case request(SampledRequest)
        /// The sample isn't published yet, or never will be because its writer died.
        case pending
        case overwritten
    }

    /// - Parameter cells: value of ``cells``, read before.
    func sample(_ sequence: UInt64, of cells: UInt32) -> Cell {
        var isOverwritten = false
        var part = cells
        // A sample that is older than the last doubling is in a cell of the first half.
        while part >= RequestLayout.leastCells {
            let cell = cell(sequence, of: part)
            let before = cp_load64(cell)
            if before == sequence &+ 1 {
                let who = cp_relaxed64(cell + 8)
                let sizes = cp_relaxed64(cell + 16)
                let packed = cp_relaxed64(cell + 24)
                cp_load_fence()
                guard cp_load64(cell) == before else { return .overwritten }
                let request = SampledRequest(
                    number: sequence, tag: UInt32(truncatingIfNeeded: who), owner: UInt32(who >> 32),
                    bytes: UInt32(truncatingIfNeeded: sizes), expiry: UInt32(sizes >> 32), packed: packed)
                return request.map { .request($0) } ?? .overwritten
            }
            if before > sequence { isOverwritten = true }
            part /= 2
        }
        return isOverwritten ? .overwritten : .pending
    }
}

extension ChangingIndex {
    /// Chooses the threshold for the present number of entries, and extends the file.
    func adaptSampling() {
        guard let requests = storage.requests else { return }
        let entries = UInt64(entryCount)
        let present = sampleThreshold
        var shift = present == 0 ? 0 : SampledRequest.shift(ofThreshold: present)
        while entries >> shift > RequestLayout.mostSampled { shift += 1 }
        if entries >> shift < RequestLayout.mostSampled / 4 {
            while shift > 0, entries >> (shift - 1) <= RequestLayout.mostSampled { shift -= 1 }
        }
        let threshold: UInt64 = 1 << (32 - min(shift, 32))
        if threshold != present { memory.set64(IndexLayout.sampleThresholdOffset, threshold) }
        requests.grow(forEntries: entryCount)
    }
}
