import Foundation
import StorageEngine
import Testing

/// Messages in a power loss.
extension PowerLossRun {
    func appendMessage(to archive: Archive) throws {
        if Int.random(in: 0..<12, using: &random) == 0 {
            try archive.synchronize()
            if durability != .process { durable = acknowledged }
            return
        }
        messages.append(value())
        try archive.append(Array(messages[messages.count - 1]))
        acknowledged = messages.count
        if durability == .full { durable = acknowledged }
    }

    /// Expects the durable messages in order, except those that the ring dropped.
    func verifyMessages(_ archive: Archive, _ comment: String) throws {
        let found = try archive.messages(most: .max).messages.map { Data($0.bytes) }
        let places = found.compactMap { messages.firstIndex(of: $0) }
        #expect(places.count == found.count, "\(comment): a message that was never appended")
        #expect(zip(places, places.dropFirst()).allSatisfy { $0 < $1 }, "\(comment): another order")
        // Later messages may have dropped earlier ones.
        var space = Int(PowerLossRun.limit)
        let sure = messages.indices.reversed().prefix { place in
            space -= messages[place].count
            return space >= 0
        }
        if durability != .process {
            for place in sure where place < durable {
                #expect(
                    places.contains(place), "\(comment): message \(place) of \(messages.count) is missing")
            }
        }
        #expect(found.reduce(0) { $0 + $1.count } <= Int(PowerLossRun.limit), "\(comment)")
        #expect(try archive.status().entries == found.count, "\(comment)")
        #expect(try archive.invariantViolations() == [], "\(comment)")
        _ = try archive.check()
        try archive.append([1, 2, 3])
        #expect(try archive.messages(most: .max).messages.last?.bytes == [1, 2, 3], "\(comment)")
    }
}
