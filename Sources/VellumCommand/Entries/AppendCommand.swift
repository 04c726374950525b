import CacheAdvance

struct AppendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "append", abstract: "Appends messages to a log.",
        discussion: """
            A log is a ring: at its limit, the oldest messages are dropped. Without a message on the command line, each line \
            of standard input becomes a message as soon as it is complete; --whole makes all input one message. --disk \
            creates the store and the log if they don't exist. A message larger than the limit is reported and left out, \
            with exit code 1.

            A log's name with a slash is the path of a ring file, as the CacheAdvance library writes it, unless --store is \
            passed. It needs no store. --disk creates it, including its header of 64 bytes; with --keep-old it refuses \
            messages once it is full. Empty lines are left out, because a ring file can't hold an empty message.

            Example: make 2>&1 | vellum append Builds --disk 1MB
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The log's name, or a ring file's path.")
    var log: String

    @Argument(help: "The message (default: standard input).")
    var message: String?

    @Flag(help: "Append all of standard input as one message.")
    var whole = false

    @Option(
        help: ArgumentHelp(
            "Create a missing log with this limit of message bytes, such as 1MB.", valueName: "size"))
    var disk: ByteCount?

    @Flag(help: "For a new ring file: keep old messages, and refuse new ones once it is full.")
    var keepOld = false

    mutating func validate() throws {
        if keepOld, disk == nil || RingFilePath(log, store: store) == nil {
            throw ValidationError("--keep-old is for a new ring file: a path with a slash, and --disk")
        }
        if whole, message != nil { throw ValidationError("--whole and a message can't be combined") }
    }

    func run() throws {
        if let file = RingFilePath(log, store: store) {
            let ring = try file.openForWriting(disk: disk, keepsOld: keepOld)
            return try appendAll { bytes in
                // A ring file can't hold an empty message.
                if !bytes.isEmpty || message != nil || whole { try ring.append(Array(bytes)) }
            }
        }
        let store = try store.openForWriting(creating: disk != nil)
        defer { store.close() }
        let archive = try openLog(in: store)
        try appendAll { try archive.append(bytes: $0) }
    }

    private typealias Appending = (UnsafeRawBufferPointer) throws -> Void

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
                    "there is no log \"\(log)\" in \(store.path); --disk 1MB creates one with that limit",
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
            Console.warn("log \"\(log)\" already exists and keeps its limit; see vellum resize")
        }
        return archive
    }

    private func appendLines(of input: InputBuffer, _ appendOne: Appending) throws -> Int {
        var number = 0
        var refused = 0
        func append(_ line: UnsafeRawBufferPointer) throws {
            number += 1
            do {
                return try appendOne(line)
            } catch let error as StorageError where error.isAboutOneEntry {
                Console.warn("\(input.name):\(number): \(error)")
            } catch let error as RingFileError where error.exitStatus == .nothing {
                Console.warn("\(input.name):\(number): \(error)")
            }
            refused += 1
        }
        while true {
            let (length, isWhole) = try input.lineLength()
            if isWhole || length > 0 { try append(UnsafeRawBufferPointer(rebasing: input.unread[..<length])) }
            guard isWhole else { return refused }
            input.consume(length + 1)
        }
    }
}
