/// Samples of an archive's recent requests.
package struct RequestSamples: Sendable {
    /// In the order of their numbers. All samples are of keys below ``threshold``.
    package var requests: [SampledRequest] = []
    /// Samples that were overwritten before they were read, or never published because their writer died.
    package var lost: UInt64 = 0
    /// The number from which the next call continues.
    package var next: UInt64 = 0
    /// The lowest threshold since the first of these samples, and now: 2^32 divided by a power of two.
    package var threshold: UInt64 = 1 << 32
    /// Identifies the trace. Tags and numbers of two traces have nothing in common.
    package var trace: UInt64

    /// The share of keys whose requests are in ``requests``.
    package var rate: Double { Self.rate(ofThreshold: threshold) }

    package static func rate(ofThreshold threshold: UInt64) -> Double {
        Double(threshold) / Double(UInt64(1) << 32)
    }

    /// Keeps only the samples of keys below a lower threshold.
    package mutating func lower(to threshold: UInt64) {
        guard threshold < self.threshold else { return }
        self.threshold = threshold
        requests.removeAll { UInt64($0.tag) >= threshold }
    }
}

/// Reads the request trace. Requires no lock and writes nothing. OnDiskFormat, "The request trace".
struct RequestTraceReader: ArchiveOperation {
    let engine: ArchiveEngine

    /// Samples from number `first` on; `nil`: all. `nil` if no process has recorded requests. Maps the file during the call.
    func samples(from first: UInt64?) -> RequestSamples? {
        guard
            let trace = RequestTrace.observe(
                in: engine.folder, of: engine.log.identity, salt: engine.index.salt)
        else { return nil }
        var samples = RequestSamples(trace: engine.index.salt)
        let cells = trace.cells
        let head = trace.next
        let oldest = head - min(head, UInt64(cells))
        // A number beyond the end belongs to a former trace.
        let wanted = first.map { $0 > head ? oldest : $0 }
        var number = max(oldest, wanted ?? oldest)
        if let wanted, wanted < oldest { samples.lost = oldest - wanted }
        var present = engine.index.sampleThreshold
        if present == 0 { present = 1 << 32 }
        var threshold = min(samples.threshold, present)
        samples.requests.reserveCapacity(Int(head - min(head, number)))
        reading: while number < head {
            switch trace.sample(number, of: cells) {
            case .request(let request):
                threshold = min(threshold, request.threshold)
                samples.requests.append(request)
            case .overwritten: samples.lost += 1
            case .pending:
                guard let later = nextPublished(after: number, head: head, trace, cells) else {
                    break reading
                }
                samples.lost += later - number
                number = later
                continue
            }
            number += 1
        }
        samples.next = min(number, head)
        samples.lower(to: threshold)
        return samples
    }

    /// The number from which the reader continues, if this sample and those up to it will never be published, because their
    /// writers were killed or stopped; `nil` if they may still be.
    private func nextPublished(
        after number: UInt64, head: UInt64, _ trace: RequestTrace, _ cells: UInt32
    ) -> UInt64? {
        guard head - number < UInt64(cells / 2) else { return number + 1 }
        for later in number + 1..<head {
            guard case .request(let request) = trace.sample(later, of: cells) else { continue }
            return Clock.wall().subtractingSaturating(request.time) > 200_000 ? later : nil
        }
        return nil
    }

    /// Key and owner of the live entry with this hash; `nil` if it doesn't exist, or can't be read.
    func entry(ofTag tag: UInt32) -> (key: String, owner: String?)? {
        for number in index.table.entries(ofTag: tag) {
            guard let slot = index.entry(number) else { continue }
            let found = engine.withFrame(at: slot.location) { frame -> (key: String, owner: String?)? in
                guard engine.hash.tag(frame.key) == tag else { return nil }
                return (String(decoding: frame.key, as: UTF8.self), frame.ownerName)
            }
            if let found = found ?? nil { return found }
        }
        return nil
    }
}
