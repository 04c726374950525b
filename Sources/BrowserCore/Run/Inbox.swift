import Synchronization

/// Messages on their way to the model. Safe from any thread.
final class Inbox: Sendable {
    private let messages = Mutex<[Message]>([])

    func add(_ message: Message) { messages.withLock { $0.append(message) } }

    /// All messages that came since the last call, in their order.
    func take() -> [Message] {
        messages.withLock { messages in
            defer { messages.removeAll() }
            return messages
        }
    }
}
