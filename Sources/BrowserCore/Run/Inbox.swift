import Synchronization

/// Queue of messages to the model. Safe from any thread.
final class Inbox: Sendable {
    private let messages = Mutex<[Message]>([])

    func add(_ message: Message) { messages.withLock { $0.append(message) } }

    /// Removes and returns all messages, in order.
    func take() -> [Message] {
        messages.withLock { messages in
            defer { messages.removeAll() }
            return messages
        }
    }
}
