/// Detects that an archive's files were removed by other means, for example by `rm -rf`.
extension Archive {
    /// Whether the archive's files were certainly removed; then closes the archive for all processes. Costs one system call. If
    /// only the descriptor is missing, the archive is repairable and stays open.
    package func closeIfRemoved() -> Bool {
        guard !isClosed else { return true }
        guard mode == .readWrite, let engine = try? engine(), engine.hasLostItsFiles else { return false }
        // If the flag can't be set for other processes, each detects the removal itself.
        if !engine.closeForAll() { close() }
        return true
    }
}
