struct JSONLines: ParsableArguments {
    @Flag(help: "Print one JSON object per line.")
    var json = false

    /// The layout of rows; nil for the destination's default.
    var layout: RowLayout? { json ? .jsonLines : nil }
}

struct Replacement: ParsableArguments {
    @Flag(help: "Replace an existing file without asking.")
    var force = false
}

struct RemoteWriting: ParsableArguments {
    @Flag(help: "Allow changes of a server that isn't on this machine.")
    var write = false
}

struct ValueReading: ParsableArguments {
    @Flag(help: "Read values of a server even if that counts as an access to each key (before version 7.2).")
    var touch = false
}
