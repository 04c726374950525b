import CacheAdvance
import StorageEngine

extension WorkerCommand {
    /// `readRing FILE`: reads numbered messages (8 bytes of number, then repetitions of its lowest byte) until it is
    /// killed. Ends with 1 if they aren't whole and consecutive.
    func readRing(_ arguments: WorkerArguments) throws {
        let ring = try RingFile(
            path: arguments.word(1), maximumBytes: 0, overwritesOldMessages: false, isReadOnly: true)
        var isFirst = true
        while true {
            _ = try ring.outline()
            let messages = try ring.messages()
            let numbers = try messages.map { message in
                let number = message.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                guard message.count > 8, message[8...].allSatisfy({ $0 == message[7] }) else {
                    throw StorageError.invalidKey(reason: "message \(number) is not whole")
                }
                return number
            }
            guard let first = numbers.first, zip(numbers, first...).allSatisfy({ $0 == $1 }) else {
                throw StorageError.invalidKey(reason: "messages aren't consecutive")
            }
            if isFirst { say("reading") }
            isFirst = false
        }
    }
}
