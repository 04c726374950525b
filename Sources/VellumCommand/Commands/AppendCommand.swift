import ArgumentParser
import StorageEngine

struct AppendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "append",
        abstract: "Appends messages to a log.",
        discussion: """
            A log is a ring: where its limit leaves no room, the oldest messages go. Without a message on the command \
            line each line of standard input becomes one as soon as it is complete, or all of it a single one with \
            --whole. --disk makes the store and the log if they aren't there. A message larger than the limit is \
            reported and left out, with exit code 1.

            A log's name with a slash in it is the path of a ring file, as the CacheAdvance library writes it, unless \
            --store is there. It needs no store; --disk begins it, its header of 64 bytes included, and with --keep-old it \
            refuses messages once it is full. Empty lines are left out: a message of no bytes can't be in it.

            Example: make 2>&1 | vellum append Builds --disk 1MB
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The log's name, or a ring file's path.")
    var log: String

    @Argument(help: "The message (default: standard input).")
    var message: String?

    @Flag(help: "Take all of standard input as one message.")
    var whole = false

    @Option(
        help: ArgumentHelp(
            "If there is no such log: make it, with most that many bytes of messages, such as 1MB.",
            valueName: "size"))
    var disk: ByteCount?

    @Flag(help: "If this begins a ring file: keep old messages, and refuse new ones once it is full.")
    var keepOld = false

    mutating func validate() throws {
        if keepOld, disk == nil || RingFilePath(log, store: store) == nil {
            throw ValidationError(
                "--keep-old is for a ring file that is begun: a path with a slash, and --disk")
        }
        if whole, message != nil {
            throw ValidationError("--whole takes standard input, so it excludes a message")
        }
    }

    func run() throws {
        if let file = RingFilePath(log, store: store) {
            let ring = try file.openForWriting(disk: disk, keepsOld: keepOld)
            return try appendAll { (bytes) throws(StorageError) in
                // A ring file can't hold an empty message.
                if !bytes.isEmpty || message != nil || whole { try ring.append(Array(bytes)) }
            }
        }
        let store = try store.openForWriting(creating: disk != nil)
        defer { store.close() }
        let archive = try openLog(in: store)
        try appendAll { (bytes) throws(StorageError) in try archive.append(bytes: bytes) }
    }

    private typealias Appending = (UnsafeRawBufferPointer) throws(StorageError) -> Void

    private func appendAll(_ append: Appending) throws {
        if let message { return try Array(message.utf8).withUnsafeBytes { try append($0) } }
        let input = try InputBuffer(path: "-")
        if whole {
            while try input.fill() {}
            try append(input.unread)
        } else if try appendLines(of: input, append) > 0 {
            throw CommandFailure(nil, status: .nothing)
        }
    }

    private func openLog(in store: Store) throws -> Archive {
        guard let disk else {
            guard try store.hasArchive(named: log) else {
                throw CommandFailure(
                    "there is no log \"\(log)\" in \(store.path); --disk 1MB makes one with that limit",
                    status: .nothing)
            }
            let archive = try store.archive(named: log)
            try archive.requireMessages()
            return archive
        }
        let archive = try store.archive(
            named: log, orCreate: ArchiveConfiguration(kind: .log, diskLimit: disk.bytes, memoryLimit: nil))
        try archive.requireMessages()
        if try archive.configuration().diskLimit != disk.bytes {
            Narration.complain("log \"\(log)\" is there already and keeps its own limit; see vellum resize")
        }
        return archive
    }

    private func appendLines(of input: InputBuffer, _ appendOne: Appending) throws -> Int {
        var number = 0
        var refused = 0
        func append(_ line: UnsafeRawBufferPointer) throws(StorageError) {
            number += 1
            do throws(StorageError) {
                try appendOne(line)
            } catch {
                guard error.isAboutOneEntry else { throw error }
                Narration.complain("\(input.name):\(number): \(error)")
                refused += 1
            }
        }
        // Don't search the same bytes again.
        var searched = 0
        while true {
            let unread = input.unread
            if let end = unread[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                try append(UnsafeRawBufferPointer(rebasing: unread[..<end]))
                input.consume(end + 1)
                searched = 0
            } else {
                searched = unread.count
                guard try input.fill() else { break }
            }
        }
        if !input.unread.isEmpty { try append(input.unread) }
        return refused
    }
}
