/// The file that makes a folder a store: one line that names the format. Content: OnDiskFormat, "Folders".
enum StoreMarker {
    static let fileName = "vellum-store"
    private static let beginning = "Vellum store, format "
    static let text = beginning + "1\n"

    enum State {
        case right, missing
        case version(UInt32)
        /// `reason` is the predicate of a sentence about the file: the fault and the expected content.
        case damaged(reason: String)
    }

    static func state(in folder: FileDescriptor) throws(StorageError) -> State {
        guard try folder.hasEntry(named: fileName) else { return .missing }
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try folder.file(named: fileName, writable: false).read(atMost: 256)
        } catch {
            guard case .corrupted(_, _, let reason) = error else { throw error }
            return .damaged(reason: "isn't a marker (\(reason))")
        }
        let expected = Array(text.utf8)
        if bytes == expected { return .right }
        if let version = version(String(decoding: bytes, as: UTF8.self)) { return .version(version) }
        let place = zip(bytes, expected).prefix { $0 == $1 }.count
        let line = "the line \"\(text.dropLast())\" with one line feed at its end"
        return .damaged(reason: "differs from byte \(place) on from \(line)")
    }

    private static func version(_ text: String) -> UInt32? {
        guard text.hasPrefix(beginning), text.utf8.last == UInt8(ascii: "\n"),
            let version = UInt32(text.dropFirst(beginning.count).dropLast()),
            text == beginning + String(version) + "\n"
        else { return nil }
        return version
    }

    private static func isTemporary(_ name: String) -> Bool {
        guard name.hasPrefix(fileName + ".") else { return false }
        let digits = name.dropFirst(fileName.count + 1)
        return !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// Creates the marker as a complete file or not at all. Other processes may do so at the same time.
    static func make(in folder: FileDescriptor) throws(StorageError) {
        // Random, because two containers may have the same process numbers.
        let temporary = fileName + "." + UInt64.random(in: .min ... .max).hexadecimal
        do throws(StorageError) {
            let file = try folder.newFile(named: temporary)
            try file.write(Array(text.utf8))
            try file.synchronize()
            try folder.rename(temporary, to: fileName)
            crashPoint(.markerRenamed)
        } catch {
            try? folder.unlink(temporary)
            // Another process has created the marker, and removed this file as a leftover.
            if error.isMissing, case .right = try state(in: folder) { return }
            throw error
        }
        // Leftovers of killed creators. Those that can't be removed do no harm.
        for name in (try? folder.names()) ?? [] where isTemporary(name) { try? folder.unlink(name) }
    }
}

extension Store {
    /// Whether a file of this path is in a store's folder or a folder below. Other programs' data must not replace it.
    package static func holdsFile(at path: String) -> Bool {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? "./"
        return [folder, folder + ".."].contains { folder in
            (try? FileDescriptor.folder(at: folder).hasEntry(named: StoreMarker.fileName)) ?? false
        }
    }

    /// Whether the store's marker exists; `true` also if unknown.
    package var isPresent: Bool { (try? folder.hasEntry(named: StoreMarker.fileName)) ?? true }

    /// Like ``isPresent``, and its path still leads to this folder and not to another store.
    package var isInItsPlace: Bool {
        guard isPresent else { return false }
        do throws(StorageError) {
            return try FileDescriptor.folder(at: path).status().number == folder.status().number
        } catch {
            return !error.isNoFolder
        }
    }
}
