/// Names of an archive's processes; remembers those that ended. For one thread.
struct ProcessNames {
    private var names: [Int32: String] = [:]
    private var unknown: Set<Int32> = []

    /// Nil if the process was never seen with the archive open.
    mutating func name(of pid: Int32, in archive: Archive) -> String? {
        if let name = names[pid] { return name }
        guard pid != 0, !unknown.contains(pid) else { return nil }
        for process in (try? archive.processes()) ?? [] { names[process.pid] = process.name }
        if names[pid] == nil { unknown.insert(pid) }
        return names[pid]
    }
}
