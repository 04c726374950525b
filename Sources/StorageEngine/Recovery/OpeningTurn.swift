import CPlatform

/// The turn to open an archive for writing, to make it, or to change its configuration: one process at a time. It is the
/// lock of the file `opening`, which the kernel lets go when its holder dies; the file says which process has it.
///
/// Used by one thread. Who only looks never waits for a turn: its holder may be stopped (F6).
struct OpeningTurn {
    static let fileName = "opening"
    private static let digits = 11

    private let file: OpenFile

    /// Takes the turn, waiting at most `nanoseconds`, by the monotonic clock. While it is held the archive isn't removed.
    /// - Throws: `busy`, which names the holder; `closed` where the archive was removed meanwhile: who went on in its folder
    ///   would store what nobody finds.
    static func take(
        in folder: OpenFile, archive: String, nanoseconds: Int64 = ArchiveEngine.patienceNanoseconds
    ) throws(StorageError) -> OpeningTurn {
        while true {
            let file = try folder.fileMakingIfMissing(named: fileName)
            guard try file.lock(.exclusive, within: nanoseconds) else {
                throw .busy(
                    archive: archive, process: pid(in: file) ?? 0,
                    reason: "it has been opening it for \(nanoseconds / 1_000_000_000) s; resume or end it")
            }
            // Whoever had the turn may have removed the file with an archive that it could not make.
            guard try file.status().links > 0 else { continue }
            let turn = OpeningTurn(file: file)
            guard try folder.isInItsPlace else {
                turn.pass()
                throw .closed(name: archive)
            }
            turn.sign()
            return turn
        }
    }

    func pass() { file.unlock() }

    /// The process that has the turn now: 0 if that can't be told, `nil` if there is none.
    static func holder(in folder: OpenFile) throws(StorageError) -> Int32? {
        guard try folder.hasEntry(named: fileName) else { return nil }
        let file = try folder.file(named: fileName, writable: false)
        if try file.lock(.shared, wait: false) {
            file.unlock()
            return nil
        }
        return pid(in: file) ?? 0
    }

    /// Leaves the pid for those who wait in vain. On a full disk the file may have no room for it: then nobody is named.
    private func sign() {
        let text = String(ProcessIdentity.current().pid)
        try? file.write(
            Array((text + String(repeating: " ", count: OpeningTurn.digits - text.count) + "\n").utf8))
    }

    private static func pid(in file: OpenFile) -> Int32? {
        guard let bytes = try? file.read(atMost: digits),
            let pid = Int32(String(decoding: bytes.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)),
            ProcessIdentity(pid: pid, start: cp_process_start(pid)).isAlive
        else { return nil }
        return pid
    }
}

extension OpenFile {
    /// A process that is just starting has copies of its maker's descriptors, and with them locks, until it runs a program of its
    /// own: where its maker was killed, a lock may for that long be taken that nobody has.
    static let startNanoseconds: Int64 = 200_000_000

    /// As ``lock(_:wait:)``, and waits at most `nanoseconds`, by the monotonic clock: no signal and no change of the wall
    /// clock makes that longer.
    func lock(_ kind: LockKind, within nanoseconds: Int64) throws(StorageError) -> Bool {
        let start = cp_monotonic_time()
        while try lock(kind, wait: false) == false {
            guard cp_monotonic_time() &- start < nanoseconds else { return false }
            cp_sleep(2_000_000)
        }
        return true
    }
}
