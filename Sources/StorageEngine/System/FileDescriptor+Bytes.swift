import CPlatform
import SystemC

extension FileDescriptor {
    func read(atMost limit: Int, from start: Int = 0) throws(StorageError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 8)
        defer { buffer.deallocate() }
        return Array(buffer[..<(try read(into: buffer, at: start))])
    }

    /// Fills `buffer` from `offset` of the file on. Returns how many bytes were read; fewer at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StorageError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let got = SystemCall.read.transfer(count: buffer.count - filled, path: path) {
                pread(descriptor, buffer.baseAddress! + filled, $0, off_t(offset + filled))
            }
            guard got.code == 0 else { throw .fromErrno(got.code, operation: "read", path: path) }
            if got.value == 0 { break }
            filled += got.value
        }
        return filled
    }

    /// Writes `bytes`, or their first `count`, by default at the start of the file.
    func write(_ bytes: [UInt8], count: Int? = nil, at offset: Int = 0) throws(StorageError) {
        let count = count ?? bytes.count
        try checkLength(offset + count)
        var written = 0
        while written < count {
            let put = bytes.withUnsafeBytes { buffer in
                SystemCall.write.transfer(count: count - written, path: path) {
                    pwrite(descriptor, buffer.baseAddress! + written, $0, off_t(offset + written))
                }
            }
            guard put.code == 0 else { throw .fromErrno(put.code, operation: "write", path: path) }
            written += put.value
        }
    }

    /// Truncates the file. Never call it on a file that any process has mapped (F4).
    func truncate(to bytes: Int) throws(StorageError) {
        try SystemCall.write.run("truncate", path: path) { Int(ftruncate(descriptor, off_t(bytes))) }
    }

    /// Makes the file `end` bytes long, with blocks for every byte (F4) and zeros from `start` on: writing the zeros brings the
    /// pages into memory in one call, at a third of the cost of touching each through a mapping.
    func extend(from start: Int, to end: Int) throws(StorageError) {
        try reserveBlocks(end)
        var offset = start
        while offset < end {
            let count = min(end - offset, FileDescriptor.zeros.count)
            try write(FileDescriptor.zeros, count: count, at: offset)
            offset += count
        }
    }

    // This size fits into the processor's inner caches. On ext4, writes of 1 MiB make puts of new keys 10 % cheaper and of
    // existing keys 50 % more expensive; smaller writes cost more for both.
    private static let zeros = [UInt8](repeating: 0, count: 64 << 10)

    /// Throws instead of writing beyond the limit of a file's size, which would raise SIGXFSZ in the program (F4).
    private func checkLength(_ bytes: Int) throws(StorageError) {
        guard let limit = ProcessLimit.fileBytes, UInt64(bytes) > limit else { return }
        throw .limitReached(operation: "write \(bytes) bytes of", path: path, limit: .fileBytes(limit))
    }

    /// Allocates blocks, also in holes, so that writing the first `bytes` bytes through a mapping can't raise SIGBUS (F4).
    func reserveBlocks(_ bytes: Int) throws(StorageError) {
        try checkLength(bytes)
        try SystemCall.allocate.run("extend", path: path) {
            SystemCall.result(ofFailure: cp_preallocate(descriptor, off_t(bytes)))
        }
    }

    /// Returns once a file's bytes or a folder's names, also `mapped`, are on the medium. Success after a failure proves nothing.
    func synchronize(mapped: UnsafeMutableRawBufferPointer? = nil) throws(StorageError) {
        SystemFaults.tell(.syncing(path: path))
        try SystemCall.sync.run("sync", path: path) {
            Int(cp_synchronize(descriptor, mapped?.baseAddress, mapped?.count ?? 0))
        }
        SystemFaults.tell(.synced(path: path))
    }

    /// Returns when this folder's names are on the medium, as far as the file system supports that.
    func synchronizeNames() throws(StorageError) {
        SystemFaults.tell(.syncing(path: path))
        _ = try SystemCall.sync.code("sync", path: path, allowing: EINVAL) {
            Int(cp_synchronize_names(descriptor))
        }
        SystemFaults.tell(.synced(path: path))
    }

    /// Drops the kernel's cached pages of the file, so that reading shows the medium's content.
    func forgetCachedBytes() { cp_forget_cached(descriptor) }
}
