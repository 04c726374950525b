/// A failure after which a connection can't be used any further.
package struct RESPError: Error, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// - Parameter violation: describes the bytes that violate the protocol.
    init(violation: String) { description = "it sent a reply that is not RESP: \(violation)" }
}

/// Sends and receives the bytes of a connection. For one thread.
package protocol RESPTransport {
    /// The local endpoint as in a server's list of clients, `127.0.0.1:50000`; nil: unknown.
    var localName: String? { get }
    func send(_ bytes: [UInt8]) throws(RESPError)
    /// Waits for data and returns at least one byte of it.
    func receive() throws(RESPError) -> [UInt8]
    /// Returns the data that has arrived, without waiting; perhaps no bytes.
    func available() throws(RESPError) -> [UInt8]
}

/// The state of a connection without its input and output: matches the replies to the requests.
package struct RESPConnection<Request> {
    package enum Event {
        /// All replies to a request, in the order of its commands.
        case replies([RESPValue], to: Request)
        /// A message without a request. The first element is its kind.
        case push([RESPValue])
    }

    private var decoder = RESPDecoder()
    /// Requests in the order of sending. Those before ``answered`` have all replies and are nil.
    private var sent: [(request: Request, count: Int)?] = []
    private var answered = 0
    private var replies: [RESPValue] = []
    /// Whether any value has arrived.
    package private(set) var hasAnswered = false

    package init() {}

    /// The requests without all replies, in the order of sending.
    package var requests: [Request] { sent[answered...].compactMap { $0?.request } }

    /// Whether a part of a value has arrived.
    package var isWithinValue: Bool { decoder.isWithinValue }

    /// - Parameter count: the number of the request's commands, at least 1.
    package mutating func expectReplies(to request: Request, count: Int) { sent.append((request, count)) }

    package mutating func received(_ bytes: some Collection<UInt8>) { decoder.append(bytes) }

    /// Returns the next event; nil: its bytes are incomplete.
    package mutating func next() throws(RESPError) -> Event? {
        while let value = try decoder.next() {
            hasAnswered = true
            if case .push(let parts) = value { return .push(parts) }
            guard answered < sent.count, let (request, count) = sent[answered] else {
                throw RESPError("it sent a reply without a request")
            }
            replies.append(value)
            guard replies.count == count else { continue }
            defer { removeFirst() }
            return .replies(replies, to: request)
        }
        return nil
    }

    private mutating func removeFirst() {
        replies = []
        sent[answered] = nil
        answered += 1
        // Removes answered requests when they are the majority: amortized constant time.
        guard answered > sent.count / 2 else { return }
        sent.removeSubrange(..<answered)
        answered = 0
    }
}
