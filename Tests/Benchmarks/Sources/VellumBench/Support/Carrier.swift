/// Takes what isn't known to be safe to another thread, which has it to itself.
struct Carrier<Value>: @unchecked Sendable { let value: Value }
