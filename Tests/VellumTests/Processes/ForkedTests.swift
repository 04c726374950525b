import Foundation
import TestSupport
import Testing

/// A program that forks and continues in both processes.
@Suite struct ForkedTests {
    /// Neither the child's nor the parent's archive may be closed by the other's end.
    @Test("an archive is reopened in the child of a fork") func forkedProgram() throws {
        let store = TemporaryStore()
        let worker = try ChildProcess.program(named: "ObjectWorker")
        let outcome = try ChildProcess.run(worker, ["fork", store.path])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.lines == ["child [1, 0, 0]", "child [1, 2, 0]", "parent [1, 2, 3]"])
    }
}
