extension InputBuffer {
    /// Skips a UTF-8 byte order mark. Throws if the text is UTF-16 or UTF-32, with or without a mark.
    func skipByteOrderMark() throws(CommandFailure) {
        try fill(to: 4)
        if unread.starts(with: [0xef, 0xbb, 0xbf]) { return consume(3) }
        guard let encoding = wideEncoding else { return }
        throw CommandFailure(
            "\(name) is \(encoding) text; convert it to UTF-8: iconv -f \(encoding) -t UTF-8",
            status: .nothing)
    }

    /// Detects zero bytes beside ASCII characters.
    private var wideEncoding: String? {
        if unread.starts(with: [0xff, 0xfe, 0, 0]) || unread.starts(with: [0, 0, 0xfe, 0xff]) {
            return "UTF-32"
        }
        if unread.starts(with: [0xff, 0xfe]) || unread.starts(with: [0xfe, 0xff]) { return "UTF-16" }
        let pairs = min(unread.count, 512) / 2
        let zeros = [0, 1].map { half in (0..<pairs).count { unread[2 * $0 + half] == 0 } }
        if zeros[0] == 0, zeros[1] * 4 > pairs * 3 { return "UTF-16LE" }
        if zeros[1] == 0, zeros[0] * 4 > pairs * 3 { return "UTF-16BE" }
        return nil
    }
}
