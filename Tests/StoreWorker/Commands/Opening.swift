import Foundation
import StorageEngine

extension WorkerCommand {
    /// `opening STORE ARCHIVE USER [readOnlyFileSystem|trusting]`: says the outcomes of reading and writing as that
    /// user (none: the present one). The file system is read-only in a private mount namespace; `unsupported` if the
    /// system or the user's rights don't allow one.
    func tryOpening(_ arguments: WorkerArguments) {
        if arguments.word(4) == "readOnlyFileSystem", !mountReadOnly(arguments.storePath) {
            say("unsupported")
            return
        }
        let options = StoreOptions(trustsOwner: arguments.word(4) == "trusting")
        if let user = uid_t(arguments.word(3)), setgid(user) != 0 || setuid(user) != 0 {
            say("unsupported")
            return
        }
        for mode in [AccessMode.readOnly, .readWrite] {
            let name = mode == .readOnly ? "reading" : "writing"
            var archive: Archive?
            say(
                "\(name) open "
                    + outcome {
                        let store = try Store.open(at: arguments.storePath, mode: mode, options: options)
                        archive = try store.archive(named: arguments.archiveName)
                    })
            guard let archive else { continue }
            say(
                "\(name) peek "
                    + outcome {
                        guard try archive.peek("key 7") == Array("value 7".utf8) else {
                            throw StorageError.closed(name: "another value")
                        }
                    })
            say(
                "\(name) list "
                    + outcome {
                        let count = try archive.entries().count
                        guard count == 200 else { throw StorageError.closed(name: "\(count) entries") }
                    })
            say("\(name) put " + outcome { try archive.put([1], forKey: "new") })
        }
    }

    private func mountReadOnly(_ path: String) -> Bool {
        Mounts.makePrivate() && Mounts.mount(path, at: path, kind: nil, Mounts.bind)
            && Mounts.mount(nil, at: path, kind: nil, Mounts.remount | Mounts.bind | Mounts.readOnly)
    }
}

/// Private mounts of this process, where the system and the user's rights allow them.
enum Mounts {
    static let readOnly: UInt = 1
    static let remount: UInt = 32
    static let bind: UInt = 4096

    /// Makes the mounts of this process private. Returns whether that succeeded.
    static func makePrivate() -> Bool {
        #if os(Linux)
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let unshare = dlsym(dlopen(nil, RTLD_NOW), "unshare") else { return false }
        let newMountNamespace: Int32 = 0x20000
        let recursivePrivate: UInt = 16384 | 1 << 18
        return unsafeBitCast(unshare, to: Unshare.self)(newMountNamespace) == 0
            && mount(nil, at: "/", kind: nil, recursivePrivate)
        #else
        return false
        #endif
    }

    static func mount(
        _ source: String?, at path: String, kind: String?, _ flags: UInt, options: String? = nil
    ) -> Bool {
        #if os(Linux)
        typealias Mount =
            @convention(c) (
                UnsafePointer<CChar>?, UnsafePointer<CChar>, UnsafePointer<CChar>?, UInt,
                UnsafePointer<CChar>?
            ) -> Int32
        guard let mount = dlsym(dlopen(nil, RTLD_NOW), "mount") else { return false }
        return unsafeBitCast(mount, to: Mount.self)(source, path, kind, flags, options) == 0
        #else
        return false
        #endif
    }
}
