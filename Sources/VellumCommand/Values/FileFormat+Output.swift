extension FileFormat {
    /// The format by the file's name; NDJSON for standard output, devices and pipes.
    static func toWrite(_ fileName: String) throws(CommandFailure) -> FileFormat {
        if fileName == "-" { return .ndjson }
        if let kind = FileKind(of: fileName), kind != .regular { return .ndjson }
        if let format = FileFormat(fileName: fileName) { return format }
        if fileName.lowercased().hasSuffix(".json") { return .json }
        // A shell's redirection may lead to a file with any name.
        if ["/dev/fd/", "/dev/std", "/proc/self/fd/"].contains(where: fileName.hasPrefix) { return .ndjson }
        throw CommandFailure(
            "\(fileName): the name has no known extension; use .ndjson, .json, .csv or .tsv, or pass "
                + "--format (for a compressed file: vellum export … | gzip > FILE.gz)", status: .usage)
    }
}

extension WholeFile {
    /// The file that a command writes, renamed to its name when it is complete; nil for standard output.
    /// - Parameter force: replaces an existing file without asking.
    static func toWrite(_ path: String, force: Bool) throws(CommandFailure) -> WholeFile? {
        guard path != "-" else { return nil }
        let exists = replacesFile(at: path)
        let whole: WholeFile
        do throws(SourceError) {
            whole = try WholeFile(at: path, replaces: exists || force, waits: true)
        } catch {
            // A signal ends the wait for the reader of a pipe.
            try Interruption.check()
            throw CommandFailure(error.description, status: .usage)
        }
        guard exists, !force else { return whole }
        guard Confirmation.isPossible else {
            throw CommandFailure("\(path) exists; pass --force to replace it", status: .usage)
        }
        guard Confirmation.ask("Replace \(path)?") else {
            throw CommandFailure("\(path) was not replaced", status: .nothing)
        }
        return whole
    }
}
