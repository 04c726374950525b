import Foundation
import Testing
import Vellum
import VellumMetrics
import VellumTesting

// The code of the articles about tests and servers, which need other products; a test compares the two.

/// The article about tests.
private struct Session: ArchiveCodable {
    var primaryKey: String
}

@Suite struct SessionTests {
    let store = TestStore()
    let clock = ManualClock()

    @Test func sessionsExpire() throws {
        let sessions = try store.factory.archives(for: Session.self, lifetime: .seconds(1_800), slides: true)
        clock.run {
            sessions.record(Session(primaryKey: "ada"))
            clock.advance(by: .seconds(1_799))
            #expect(sessions.access(archiveWithKey: "ada") != nil)
            clock.advance(by: .seconds(3_600))
            #expect(sessions.access(archiveWithKey: "ada") == nil)
        }
    }
}

@Suite struct GreeterTests {
    private struct Greeter {
        let sessions: any ArchiveAccess<Session>

        func greeting(_ key: String) -> String {
            sessions.access(archiveWithKey: key) == nil ? "Who are you?" : "Hello again"
        }
    }

    @Test func greetsKnownUsers() {
        let nobody = Greeter(sessions: FakeArchives())
        let ada = Greeter(sessions: FakeArchives([Session(primaryKey: "ada")]))
        #expect(nobody.greeting("ada") == "Who are you?" && ada.greeting("ada") == "Hello again")
    }
}

private struct Page: ArchiveCodable {
    var primaryKey: String
}

@Suite struct RendererTests {
    private struct Renderer {
        let pages: any AsynchronousArchiveAccess<Page>

        func page(_ path: String) async throws -> Page {
            try await pages.value(forKey: path) { Page(primaryKey: path) }
        }
    }

    @Test func rendersAbsentPages() async throws {
        let renderer = Renderer(pages: FakeArchives<Page>().asynchronous)
        #expect(try await renderer.page("/").primaryKey == "/")
        let pages = FakeArchives([Page(primaryKey: "/")])
        let fake: any AsynchronousArchiveAccess<Page> = pages.asynchronous
        #expect(try await fake.value(forKey: "/") { throw CancellationError() }.primaryKey == "/")
        try await fake.record(Page(primaryKey: "/a"))
        try await fake.delete(archiveWithKey: "/")
        #expect(pages.contents.keys.sorted() == ["/a"])
        let archives = try TestStore().factory.archives(for: Page.self)
        #expect(try await Renderer(pages: archives.asynchronous).page("/").primaryKey == "/")
        #expect(archives.keys() == ["/"])
    }
}

/// The article about servers.
private func report(_ sessions: ArchiveManager<Session>) async throws {
    let metrics = ArchiveMetrics()
    metrics.add(sessions, named: "sessions")
    try await metrics.run(every: .seconds(10))  // until its task is cancelled
}
