import StorageEngine

extension Archive {
    /// - Throws: where to go instead, if it is a log: that has messages and no entries.
    func requireEntries() throws {
        guard try configuration().kind == .log else { return }
        throw CommandFailure(
            "archive \"\(name)\" is a log, which has messages and no entries; vellum tail \(name) shows them, "
                + "vellum append \(name) adds to them", status: .usage)
    }

    /// - Throws: where to go instead, unless it is a log.
    func requireMessages() throws {
        let kind = try configuration().kind
        guard kind != .log else { return }
        throw CommandFailure(
            "archive \"\(name)\" is a \(kind), and only a log has messages; vellum keys \(name) shows its entries",
            status: .usage)
    }
}
