enum CompressedInput {
    private static let known: [(begins: [UInt8], name: String, unpacker: String, ending: String)] = [
        ([0x1f, 0x8b], "gzip", "zcat", ".gz"), ([0x28, 0xb5, 0x2f, 0xfd], "zstd", "zstdcat", ".zst"),
        ([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], "xz", "xzcat", ".xz"),
        ([0x42, 0x5a, 0x68], "bzip2", "bzcat", ".bz2"),
        ([0x50, 0x4b, 0x03, 0x04], "zip", "unzip -p", ".zip"),
    ]

    /// - Throws: if the input is compressed, an error with the command that decompresses and imports it.
    static func refuse(_ input: InputBuffer, command: (_ format: FileFormat?) -> String)
        throws(CommandFailure)
    {
        try input.fill(to: 6)
        guard let found = known.first(where: { input.unread.starts(with: $0.begins) }) else { return }
        let isNamed = input.size != nil && input.name != "standard input"
        let unpacked =
            input.name.hasSuffix(found.ending) ? String(input.name.dropLast(found.ending.count)) : ""
        let file = isNamed ? ShellWord.quoted(input.name) : "FILE"
        throw CommandFailure(
            "\(input.name) is compressed (\(found.name)); decompress it: \(found.unpacker) \(file) | "
                + command(FileFormat(fileName: unpacked)), status: .usage)
    }
}
