extension JSONPrinter {
    /// Writes the separator and white space before an entry or item that is `indent` levels deep.
    @inline(__always)
    mutating func beginElement(isFirst: Bool, indent: Int) {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        if layout == .pretty { beginLine(indent: indent) }
    }

    /// Writes the white space before the bracket that closes a container.
    @inline(__always)
    mutating func endElements(isEmpty: Bool, indent: Int) {
        if layout == .pretty && !isEmpty { beginLine(indent: indent - 1) }
    }

    private mutating func beginLine(indent: Int) {
        output.append(UInt8(ascii: "\n"))
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * indent))
    }
}
