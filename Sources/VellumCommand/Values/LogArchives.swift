extension Archive {
    /// - Throws: if this is a log, an error that names the commands for logs.
    func requireEntries() throws {
        guard try configuration().kind == .log else { return }
        throw CommandFailure(
            "archive \"\(name)\" is a log, which has messages instead of entries; vellum tail \(name) shows them, "
                + "vellum append \(name) adds to them", status: .usage)
    }

    /// - Throws: unless this is a log, an error that names the command for entries.
    func requireMessages() throws {
        let kind = try configuration().kind
        guard kind != .log else { return }
        throw CommandFailure(
            "archive \"\(name)\" is a \(kind), and only a log has messages; vellum keys \(name) shows its entries",
            status: .usage)
    }
}
