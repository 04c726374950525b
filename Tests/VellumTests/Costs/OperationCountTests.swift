#if os(Linux)
import Foundation
import TestSupport
import Testing

/// Counts operations instead of timing them: the counts are the same on every run.
@Suite struct OperationCountTests {
    private struct Row: Decodable {
        var operation: String
        var allocations: Double
        var systemCalls: Double
        var byNumber: [String: Double]
    }

    /// Allocations and system calls of one operation on average, including new segments and index growth. Rounded up a
    /// little, since some depend on time and on the hashes of keys. Each object checks from time to time that its store
    /// exists; on slow machines that is each time.
    private static let most: [String: (allocations: Double, systemCalls: Double)] = [
        "put, a new key": (0.2, 0.2),
        "put, an existing key": (0.2, 0.2),
        "put that evicts": (0.25, 0.2),
        "a put of ten in a batch": (4, 0.2),
        "access in place": (0.02, 0.02),
        "access to a copy": (1.02, 0.02),
        "access, no such key": (0.02, 0.02),
        "peek in place": (0.02, 0.02),
        "delete": (0.1, 0.1),
        "append to a log": (0.2, 0.2),
        "list an entry": (0.3, 0.05),
        "query an entry": (2.6, 0.05),
        "open an archive to read": (263, 110),
        "open an archive to write": (314, 169),
        "record an object": (7.5, 1.3),
        "access an object in memory": (0.02, 0.02),
        "access an object on disk": (9.2, 1.1),
    ]

    /// Fails when an operation takes more than its limit, and when it takes so little that the limit should be lowered.
    @Test("each operation's allocations and system calls are close to their limits")
    func countsWithinLimits() throws {
        let outcome = try ChildProcess.run(
            ChildProcess.program(named: "OperationCounter"), ["--json", "--without-instructions"])
        if outcome.errors.contains("Operation not permitted") {
            try Test.cancel("no process may be traced here")
        }
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try JSONDecoder().decode([Row].self, from: outcome.output)
        #expect(Set(rows.map(\.operation)) == Set(Self.most.keys))
        for row in rows {
            let most = try #require(Self.most[row.operation])
            #expect(row.allocations <= most.allocations, "\(row.operation)")
            #expect(row.systemCalls <= most.systemCalls, "\(row.operation): \(row.byNumber)")
            #expect(
                row.allocations >= most.allocations / 2 - 0.3, "\(row.operation): less than is written here")
        }
    }
}
#endif
