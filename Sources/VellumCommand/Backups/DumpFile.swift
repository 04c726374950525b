import CBOR

/// The files of a store as a sequence of CBOR items (RFC 8742): a map with `vellumDump` and `files`, a map with `path`,
/// `crc32c` and `bytes` for each file, and a map with `end`, which detects truncation. Indexes are rebuilt from the logs.
enum DumpFile {
    private static let version: UInt64 = 1
    private static let versionName = "vellumDump"

    static func write(storeAt path: String, to output: OutputWriter) throws -> UInt64 {
        let files = try files(in: path)
        var bytes: UInt64 = 0
        func write(_ members: [(String, CBORValue)]) throws {
            let item = CBORValue.map(CBORMap(members.map { CBORMap.Entry(key: .text($0), value: $1) }))
                .encoded
            bytes += UInt64(item.count)
            try output.write(item)
        }
        try write([(versionName, .unsigned(version)), ("files", .unsigned(UInt64(files.count)))])
        for file in files {
            try Interruption.check()
            // Map the file: a segment can be as long as the longest value.
            let content = try Data(contentsOf: URL(filePath: path + "/" + file), options: .alwaysMapped)
            try content.withUnsafeBytes { content in
                var head = CBORWriter()
                head.beginMap(count: 3)
                head.write("path")
                head.write(file)
                head.write("crc32c")
                head.write(unsigned: UInt64(Checksum.crc32c(content)))
                head.write("bytes")
                // A byte string begins like a number, except for the major type (RFC 8949, section 3).
                var length = CBORWriter()
                length.write(unsigned: UInt64(content.count))
                let bytesType: UInt8 = 0x40
                try output.write(head.bytes + [length.bytes[0] | bytesType] + length.bytes.dropFirst())
                try output.write(content)
                bytes += UInt64(head.bytes.count + length.bytes.count + content.count)
            }
        }
        try write([("end", .unsigned(UInt64(files.count)))])
        return bytes
    }

    /// Paths below the store's folder: its marker, and of each archive the descriptor and the segments.
    private static func files(in path: String) throws -> [String] {
        var files: [String] = []
        for (name, folder) in try StoresFolder.contents(of: path) {
            if name == marker { files.append(name) }
            guard name.hasSuffix(folderEnding) else { continue }
            files += try StoresFolder.contents(of: folder).map(\.name).filter(isOfLog).map { name + "/" + $0 }
        }
        return files
    }

    private static let marker = "vellum-store"
    private static let folderEnding = ".archive"

    private static func isOfLog(_ name: String) -> Bool { name.hasSuffix(".segment") || name == "descriptor" }

    static func read(_ input: InputBuffer, into folder: String) throws -> [String] {
        let notADump = CommandFailure("\(input.name) is not a dump of a store", status: .nothing)
        guard let head = try nextItem(input, mayGrow: false)?.asMap,
            let found = head[key: .text(versionName)]?.asUInt64,
            let count = head[key: .text("files")]?.asUInt64
        else { throw notADump }
        guard found == version else {
            throw CommandFailure(
                "\(input.name) is a dump of version \(found), and this program reads version \(version)",
                status: .storeFailure)
        }
        var written: [String] = []
        while true {
            try Interruption.check()
            guard let item = try nextItem(input)?.asMap else {
                throw CommandFailure("\(input.name) ends early; nothing was restored", status: .nothing)
            }
            if let end = item[key: .text("end")]?.asUInt64 {
                guard end == count, UInt64(written.count) == count else { throw notADump }
                try input.fill(to: 1)
                guard input.unread.isEmpty else {
                    throw CommandFailure(
                        "\(input.name) continues after the end of the dump; nothing was restored",
                        status: .nothing)
                }
                return written
            }
            guard let path = item[key: .text("path")]?.asString,
                case .bytes(let bytes)? = item[key: .text("bytes")],
                isSafe(path)
            else { throw notADump }
            guard item[key: .text("crc32c")]?.asUInt64 == UInt64(Checksum.crc32c(bytes)) else {
                throw CommandFailure(
                    "\(input.name) is damaged: the bytes of \(TerminalSafe.quoted(path)) fail their checksum; nothing was restored",
                    status: .storeFailure)
            }
            written.append(try write(bytes, path, in: folder))
        }
    }

    /// Whether the path is a file in the store or in an archive's folder, and never one outside.
    private static func isSafe(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." && !$0.utf8.contains(0) }) else {
            return false
        }
        switch parts.count {
        case 1: return path == marker
        case 2: return parts[0].hasSuffix(folderEnding) && isOfLog(String(parts[1]))
        default: return false
        }
    }

    private static func write(_ bytes: [UInt8], _ path: String, in folder: String) throws -> String {
        if let slash = path.lastIndex(of: "/") {
            let inner = folder + "/" + path[..<slash]
            guard mkdir(inner, 0o700) == 0 || errno == EEXIST else {
                throw CommandFailure(inner, errno: errno, status: .storeFailure)
            }
        }
        let place = folder + "/" + path
        let file = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CommandFailure(place, errno: errno, status: .storeFailure) }
        defer { close(file) }
        let output = OutputWriter(descriptor: file) { SourceError(place, errno: $0) }
        try output.write(bytes)
        try output.flush()
        return place
    }

    /// Syncs the files. Called after verification, so that invalid files aren't synced.
    static func synchronize(_ files: [String]) throws {
        for place in files {
            let file = open(place, O_RDONLY | O_CLOEXEC)
            // Verifying opens the archives for writing, which may remove a file.
            if file < 0, errno == ENOENT { continue }
            defer { if file >= 0 { close(file) } }
            guard file >= 0, fsync(file) == 0 else {
                throw CommandFailure(place, errno: errno, status: .storeFailure)
            }
        }
    }

    /// The next item; nil at the end of the input, also within an item.
    private static func nextItem(_ input: InputBuffer, mayGrow: Bool = true) throws -> CBORValue? {
        var wanted = 1 << 12
        while true {
            try input.fill(to: wanted)
            let unread = input.unread
            var reader = CBORReader(unread)
            if (try? reader.skipItem()) != nil {
                let item = UnsafeRawBufferPointer(rebasing: unread[..<reader.offset])
                let value = try? CBORReader.decode(Array(item))
                input.consume(reader.offset)
                return value
            }
            guard mayGrow, unread.count >= wanted else { return nil }
            wanted = unread.count * 2
        }
    }
}
