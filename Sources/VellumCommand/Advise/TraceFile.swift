import CacheSimulation

/// A source of requests to simulate: a file with a line for each.
struct TraceFile {
    let path: String

    /// Reads the file in pieces. Memory: 16 bytes for each request of a sampled key.
    func read(unit: LimitUnit, sampling: Int) throws -> RecordedTrace {
        let input = try InputBuffer(path: path)
        try CompressedInput.refuse(input) { _ in "vellum advise --trace -" }
        try input.skipByteOrderMark()
        var trace = RecordedTrace(unit: unit, sampling: sampling)
        var parser = TraceParser()
        do {
            repeat {
                try parser.read(input.unread) { trace.add($0) }
                input.consume(input.unread.count)
            } while try input.fill()
            try parser.end { trace.add($0) }
        } catch let fault as TraceParser.Fault {
            throw failure(fault, input.name)
        }
        try Interruption.check()
        try requireSizes(parser, unit, input.name)
        guard trace.requests > 0 else {
            throw CommandFailure(
                "\(input.name) has no requests; a trace has a line with a key for each request",
                status: .nothing)
        }
        return trace
    }

    private func failure(_ fault: TraceParser.Fault, _ name: String) -> CommandFailure {
        let reason =
            switch fault.kind {
            case .noKey: "the line begins with a separator; put the key first"
            case .badSize: "the size is not a whole number; a line is KEY or KEY SIZE"
            case .longLine:
                "the line exceeds \(Figures.count(TraceParser.longestLine)) bytes; shorten the key"
            }
        return CommandFailure("\(name), line \(Figures.count(fault.line)): \(reason)", status: .nothing)
    }

    private func requireSizes(_ parser: TraceParser, _ unit: LimitUnit, _ name: String) throws(CommandFailure)
    {
        guard unit == .bytes, let line = parser.lineWithoutSize else { return }
        throw CommandFailure(
            "\(name), line \(Figures.count(line)): the request has no size; add sizes, or use --unit entries",
            status: .usage)
    }

    /// Writes the reads of samples as a trace; a key is its hash in hexadecimal digits, a missed value has the size that is stored
    /// next, or its last known one. Returns the number of reads.
    static func write(_ samples: RequestSamples, to output: OutputWriter) throws(SourceError) -> Int {
        let requests = samples.requests
        var sizes: [UInt32: Int] = [:]
        // From the end, so that a miss gets the size of the put that follows.
        let next = requests.reversed().map { request in
            if request.bytes > 0 { sizes[request.tag] = request.bytes }
            return sizes[request.tag] ?? 0
        }.reversed()
        var reads = 0
        sizes = [:]
        for (request, next) in zip(requests, next) {
            let size = next > 0 ? next : sizes[request.tag] ?? 0
            sizes[request.tag] = size
            guard [.hit, .memoryHit, .miss].contains(request.kind) else { continue }
            let digits = String(request.tag, radix: 16)
            try output.write(String(repeating: "0", count: 8 - digits.count) + digits + " \(size)\n")
            reads += 1
        }
        return reads
    }
}
