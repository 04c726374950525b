/// Checks the program, its terminal and its stores without changing anything.
enum Examination {
    struct Finding: Sendable {
        enum State: String, Sendable {
            case ok, note, wrong
        }

        let state: State
        let subject: String
        let text: String
        var advice: String?

        init(_ state: State, _ subject: String, _ text: String, advice: String? = nil) {
            self.state = state
            self.subject = subject
            self.text = text
            self.advice = advice
        }
    }

    // MARK: Program and terminal

    static func ofProgram() -> [Finding] {
        [
            Finding(.ok, "version", "\(Version.text), files of format 1"), platform, openFiles, terminal,
            language,
        ]
    }

    private static var platform: Finding {
        var name = utsname()
        uname(&name)
        func text<Field>(_ field: Field) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        return Finding(
            .ok, "platform",
            "\(text(name.sysname)) \(text(name.release)), \(text(name.machine)), "
                + Figures.count(processors, "processor", "processors"))
    }

    private static var openFiles: Finding {
        let limit = sysconf(Int32(_SC_OPEN_MAX))
        let found = limit < 0 ? "no limit" : "at most \(Figures.count(limit))"
        guard limit >= 0, limit < 1024 else { return Finding(.ok, "open files", found) }
        return Finding(
            .note, "open files", found, advice: "each open archive takes two; ulimit -n 4096 allows more")
    }

    private static var terminal: Finding {
        guard SystemText.isTerminal(STDOUT_FILENO) else {
            return Finding(
                .note, "terminal",
                "standard output isn't a terminal: tables are tab-separated, and browse needs --print")
        }
        guard !SystemText.isTerminalPlain, let name = SystemText.environment("TERM") else {
            return Finding(
                .wrong, "terminal", "TERM is not set, or dumb",
                advice: "export TERM=xterm-256color, or your terminal's type")
        }
        let columns = OutputWriter().columns.map { ", \($0) columns wide" } ?? ""
        return Finding(.ok, "terminal", name + columns)
    }

    private static var language: Finding {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let value = names.lazy.compactMap { SystemText.environment($0) }.first
        let isUnicode = value.map { $0.lowercased().replacing("-", with: "").contains("utf8") } ?? false
        if isUnicode { return Finding(.ok, "locale", value ?? "") }
        return Finding(
            .note, "locale", value.map { "\($0), which isn't UTF-8" } ?? "not set",
            advice: "LC_ALL=C.UTF-8 lets the browser draw more than ASCII")
    }

    // MARK: Stores

    static func ofStores(_ arguments: StoreArguments) -> [Finding] {
        if let named = arguments.named { return ofStore(named) }
        let folder = CachesFolder.path()
        guard let paths = try? StoresFolder.stores(in: folder) else {
            return [Finding(.wrong, folder, "can't be read", advice: "name a store with --store")]
        }
        guard !paths.isEmpty else {
            return [
                Finding(
                    .note, "stores", "none in \(folder), and VELLUM_STORE is not set",
                    advice: "name one with --store, or try vellum demo")
            ]
        }
        return paths.flatMap(ofStore)
    }

    private static func ofStore(_ path: String) -> [Finding] {
        let store: Store
        do throws(StorageError) {
            store = try Store.open(at: path, mode: .readOnly, createIfMissing: false, options: .forReading)
        } catch {
            return [Finding(.wrong, path, error.description, advice: advice(for: error, path))]
        }
        var findings = [permissions(path), space(path)].compactMap { $0 }
        do throws(StorageError) {
            for name in try store.archiveNames() { findings.append(ofArchive(name, store)) }
            for name in try store.emptyArchiveNames() {
                findings.append(
                    Finding(
                        .wrong, "\(path): \(name)", store.emptyArchiveProblem(named: name),
                        advice: repair(path)))
            }
            for name in try store.strayFolderNames() {
                findings.append(Finding(.wrong, path, store.strayFolderProblem(name)))
            }
            if let remark = try store.removalRemark() {
                let advice = ShellWord.vellum("compact", store: path)
                findings.append(Finding(.note, path, remark, advice: advice))
            }
        } catch {
            findings.append(Finding(.wrong, path, error.description, advice: advice(for: error, path)))
        }
        return findings
    }

    private static func permissions(_ path: String) -> Finding {
        var status = stat()
        guard stat(path, &status) == 0 else { return Finding(.wrong, path, "can't be read") }
        let mode = status.st_mode & 0o777
        guard mode & 0o077 == 0 else {
            return Finding(
                .note, path, "other users can enter the folder (mode \(String(mode, radix: 8)))",
                advice: "chmod 700 \(ShellWord.quoted(path))")
        }
        return Finding(.ok, path, "accessible only to this user")
    }

    private static func space(_ path: String) -> Finding? {
        guard let free = SystemText.freeBytes(at: path) else { return nil }
        let text = "\(Figures.bytes(free)) free on its file system"
        guard free < 64 << 20 else { return Finding(.ok, path, text) }
        return Finding(
            .wrong, path, text, advice: "free some space; a large archive grows by 64 MiB at a time")
    }

    private static func ofArchive(_ name: String, _ store: Store) -> Finding {
        let subject = "\(store.path): \(name)"
        do throws(StorageError) {
            return try store.withArchive(named: name) { (archive) throws(StorageError) in
                if let problem = try archive.problem(withSegments: true) {
                    return Finding(.wrong, subject, problem, advice: repair(store.path))
                }
                if let problem = try archive.requestsProblem() {
                    return Finding(.note, subject, problem, advice: repair(store.path))
                }
                let status = try archive.status()
                let open = status.attachedProcesses
                let users = open == 0 ? "" : ", open in \(Figures.count(open, "process", "processes"))"
                let amount = Figures.amount(status.entries, bytes: status.diskBytes)
                return Finding(.ok, subject, "a \(status.configuration.kind), \(amount)\(users)")
            }
        } catch {
            return Finding(.wrong, subject, error.description, advice: advice(for: error, store.path))
        }
    }

    private static func repair(_ path: String) -> String {
        ShellWord.vellum("check", options: ["--repair"], store: path)
    }

    private static func advice(for error: StorageError, _ path: String) -> String? {
        switch error {
        case .corrupted: repair(path)
        case .permissionDenied: "run it as the store's owner"
        case .ownedByAnotherUser: "set VELLUM_TRUST_OWNER=1 to read it if you trust its owner"
        // --repair can rewrite the marker.
        case .notAStore where error.description.contains("--repair"): repair(path)
        default: error.ringFileHint.map { String($0.dropFirst(2)) }
        }
    }
}
