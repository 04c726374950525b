import Foundation
import TestSupport
import Testing

/// A program that forks and goes on in both processes.
@Suite struct ForkedTests {
    /// The child's archive would be closed for ever, or its end would close that of the parent: `ForkTests` are of the engine
    /// below.
    @Test func anArchiveOpensAnewInTheChild() throws {
        let store = TemporaryStore()
        let worker = try ChildProcess.program(named: "ObjectWorker")
        let outcome = try ChildProcess.run(worker, ["fork", store.path])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.lines == ["child [1, 0, 0]", "child [1, 2, 0]", "parent [1, 2, 3]"])
    }
}
