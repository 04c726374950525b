import Synchronization

final class Inbox: Sendable {
    private let messages = Mutex<[Message]>([])

    func add(_ message: Message) { messages.withLock { $0.append(message) } }

    func take() -> [Message] {
        messages.withLock { messages in
            defer { messages.removeAll() }
            return messages
        }
    }
}
