/// A value whose coding calls a closure of the test. Sendable value type.
package struct Asking: Codable, Sendable {
    /// A separate type, because the optimizing compiler of Swift 6.3 passes no metadata for a bare function as a
    /// task-local value, and the program crashes.
    private struct Request: Sendable {
        let body: @Sendable () -> Void
    }

    @TaskLocal private static var request: Request?

    /// Calls `operation`, in which `body` is called whenever a value is encoded or decoded.
    package static func withCoding<Value>(
        calling body: @escaping @Sendable () -> Void, _ operation: () throws -> Value
    ) rethrows -> Value {
        try $request.withValue(Request(body: body), operation: operation)
    }

    package init() {}

    package init(from decoder: any Decoder) throws { Asking.request?.body() }

    package func encode(to encoder: any Encoder) throws {
        Asking.request?.body()
        var container = encoder.singleValueContainer()
        try container.encode([0])
    }
}
