#if canImport(Darwin)
import Darwin
#else
// `environ` isn't marked as concurrency-safe; this process never changes it.
@preconcurrency import Glibc
#endif

/// A child process that runs the workload. It ends with this process, because the pipe between them closes. For one thread.
final class WorkloadProcess {
    private let pid: pid_t
    private var lifelinePipe: Int32
    private var isWaitedFor = false

    /// `removesStore`: the child removes the store when it ends. `isSilent`: discards its standard error.
    init(
        store: String, dataPath: String?, rate: Int, seed: UInt64, removesStore: Bool, isSilent: Bool
    ) throws(CommandFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw CommandFailure("pipe", errno: errno, status: .storeFailure) }
        let (child, parent) = (ends[0], ends[1])
        lifelinePipe = parent
        defer { close(child) }
        // The child must not hold this end open.
        _ = fcntl(parent, F_SETFD, FD_CLOEXEC)
        var arguments = [DemoFile.executable, WorkloadCommand.name, "--store", store]
        arguments += ["--rate", String(rate), "--seed", String(seed)]
        if removesStore { arguments.append("--remove-store") }
        if let dataPath { arguments += ["--", dataPath] }
        var pid: pid_t = 0
        let code = Self.spawn(arguments, input: child, isSilent: isSilent, &pid)
        guard code == 0 else {
            close(parent)
            throw CommandFailure("cannot start the workload", errno: code, status: .storeFailure)
        }
        self.pid = pid
    }

    func hasEnded() -> Bool {
        if !isWaitedFor { isWaitedFor = waitpid(pid, nil, WNOHANG) == pid }
        return isWaitedFor
    }

    func end() {
        if lifelinePipe >= 0 { close(lifelinePipe) }
        lifelinePipe = -1
        while !isWaitedFor { isWaitedFor = waitpid(pid, nil, 0) == pid || errno != EINTR }
    }

    deinit { end() }

    /// Returns 0 or an error number. A separate process group keeps the terminal's interrupts and suspensions from the child.
    private static func spawn(_ arguments: [String], input: Int32, isSilent: Bool, _ pid: inout pid_t)
        -> Int32
    {
        #if canImport(Darwin)
        var files: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var files = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&files)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&files)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO)
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        if isSilent { posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        var list = arguments.map { strdup($0) } + [nil]
        defer { for argument in list { free(argument) } }
        return posix_spawn(&pid, arguments[0], &files, &attributes, &list, environ)
    }
}
