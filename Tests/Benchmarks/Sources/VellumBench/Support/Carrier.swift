/// Passes a value that isn't `Sendable` to another thread, which alone uses it.
struct Carrier<Value>: @unchecked Sendable { let value: Value }
