/// The file that makes a folder a store: one line that names the format. What it holds: OnDiskFormat, "Folders".
enum StoreMarker {
    static let fileName = "vellum-store"
    private static let beginning = "Vellum store, format "
    static let text = beginning + "1\n"

    enum State {
        case right, missing
        /// A whole marker of another format.
        case version(UInt32)
        /// `reason` is a predicate of the file: what is wrong with it, and what it should be.
        case damaged(reason: String)
    }

    static func state(in folder: OpenFile) throws(StorageError) -> State {
        guard try folder.hasEntry(named: fileName) else { return .missing }
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try folder.file(named: fileName, writable: false).read(atMost: 256)
        } catch {
            guard case .corrupted(_, _, let reason) = error else { throw error }
            return .damaged(reason: "is none (\(reason))")
        }
        let expected = Array(text.utf8)
        if bytes == expected { return .right }
        if let version = version(String(decoding: bytes, as: UTF8.self)) { return .version(version) }
        return .damaged(reason: difference(of: bytes, from: expected))
    }

    /// What is wrong with a marker, as the end of a sentence about it.
    private static func difference(of bytes: [UInt8], from expected: [UInt8]) -> String {
        let line = "the line \"\(text.dropLast())\""
        if bytes.isEmpty { return "is empty; it should be \(line)" }
        let withoutEnd = Array(expected.dropLast())
        if bytes == withoutEnd { return "lacks the line feed at the end of \(line)" }
        if bytes == withoutEnd + [0x0d, 0x0a] {
            return
                "ends \(line) with a carriage return and a line feed instead of a line feed alone, as if an editor "
                + "or a transfer had changed its line endings"
        }
        let place = zip(bytes, expected).prefix { $0 == $1 }.count
        return "differs from byte \(place) on from what it should be, \(line) with one line feed at its end"
    }

    /// The number of another format, where the text is exactly what a marker of that format would be.
    private static func version(_ text: String) -> UInt32? {
        guard text.hasPrefix(beginning), text.utf8.last == UInt8(ascii: "\n"),
            let version = UInt32(text.dropFirst(beginning.count).dropLast()),
            text == beginning + String(version) + "\n"
        else { return nil }
        return version
    }

    /// What it is written to before it has its name; nobody else's, in whatever container they have the same process number.
    private static func temporaryName() -> String {
        fileName + "." + UInt64.random(in: .min ... .max).hexadecimal
    }

    /// Whether somebody was making the marker by that name, also before it was drawn at random.
    private static func isTemporary(_ name: String) -> Bool {
        guard name.hasPrefix(fileName + ".") else { return false }
        let digits = name.dropFirst(fileName.count + 1)
        return !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// Makes the marker, whole or not at all; others may make it at the same time.
    static func make(in folder: OpenFile) throws(StorageError) {
        let temporary = temporaryName()
        do throws(StorageError) {
            let file = try folder.newFile(named: temporary)
            try file.write(Array(text.utf8))
            try file.synchronize()
            try folder.rename(temporary, to: fileName)
            crashPoint(.markerRenamed)
        } catch {
            try? folder.unlink(temporary)
            // Somebody else has made it, and removed what it took for left behind.
            if case .system(_, _, SystemCode.missing) = error, case .right = try state(in: folder) { return }
            throw error
        }
        // What makers left that were killed. That it stays hurts nobody.
        for name in (try? folder.names()) ?? [] where isTemporary(name) { try? folder.unlink(name) }
    }
}
