import Foundation
import Synchronization

/// P20: the built browser on a server with `entries` keys of all types: the time until its first frame and until the first
/// keys are shown, and the latency of the server's other clients while it lists all keys and reads the values to sort by.
/// Needs an installed server.
struct ServerWorkload {
    static let title = "P20 server"
    private static let wait = "P20 p99 of another client's GET"
    private static let clients = 10
    private static let seconds = 4.0

    let plan: Plan
    /// The built program; `nil`: not measured.
    let browser: String?

    /// Keys of all types; every tenth expires.
    private static let fill = """
        for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
            local k = 'k:' .. i
            local t = i % 6
            if t == 0 then redis.call('SET', k, '{"id":' .. i .. ',"name":"name ' .. i .. '"}')
            elseif t == 1 then redis.call('HSET', k, 'name', 'n' .. i, 'age', i % 90)
            elseif t == 2 then redis.call('RPUSH', k, 'a' .. i, 'b', 'c')
            elseif t == 3 then redis.call('SADD', k, 'm' .. i, 'n')
            elseif t == 4 then redis.call('ZADD', k, i, 'one', 2, 'two')
            else redis.call('XADD', k, '1-1', 'event', 'login') end
            if i % 10 == 0 then redis.call('EXPIRE', k, 3600 + i % 5000) end
        end
        return 1
        """

    func run() throws -> [Measurement] {
        guard plan.wants(ServerWorkload.title) else { return [] }
        guard let program = ValkeySystem.program, let browser else {
            plan.say(
                "P20: left out, there is neither valkey-server nor redis-server, or --browser names no program"
            )
            return []
        }
        let server = try LocalServer(program, at: plan.scratch.fresh("browsed-server"))
        defer { server.end() }
        let (port, entries) = (server.port, plan.entries)
        let client = try Waiting.result { try await PlainValkeyClient(port: port) }
        plan.say("P20: filling")
        try Waiting.result {
            for start in stride(from: 1, through: entries, by: 20_000) {
                let words = [
                    "EVAL", ServerWorkload.fill, "0", "\(start)", "\(min(start + 19_999, entries))",
                ]
                await client.send(words.map { Array($0.utf8) }, replyBytes: 4)
            }
            _ = await client.set("probe", [7])
        }
        var (frame, keys) = (
            Measurement("P20 browser's first frame", "server"), Measurement("P20 first keys", "server")
        )
        var (alone, beside) = (
            Measurement(ServerWorkload.wait, "no browser"),
            Measurement(ServerWorkload.wait, "beside the browser")
        )
        for run in 0..<plan.runs {
            plan.say("P20: run \(run + 1) of \(plan.runs)")
            let quiet = try waits(client)
            let begun = Clock.now()
            let screen = try TerminalProgram(
                [browser, "browse", "--store", "valkey://127.0.0.1:\(port)", "--read-only"],
                columns: 120,
                rows: 40)
            frame.add(nanoseconds: Double(try screen.frame(showing: "db0") - begun))
            try screen.settle()
            try screen.type("\r")
            let typed = Clock.now()
            keys.add(nanoseconds: Double(try screen.frame(showing: "k:") - typed))
            // Lists all keys, then sorts by size, which needs a request for each key.
            let listing = try waits(client)
            try screen.type("2")
            let sorting = try waits(client)
            alone.add(nanosecondsPerOp: quiet)
            beside.add(nanosecondsPerOp: max(listing, sorting))
        }
        try Waiting.result { try await client.close() }
        frame.verdict = .within(milliseconds: 200, nanoseconds: frame.median)
        keys.verdict = .within(milliseconds: 200, nanoseconds: keys.median)
        beside.compare(with: alone, most: 1.2)
        return [frame, keys, alone, beside]
    }

    /// The p99 latency in nanoseconds of clients that send a request a millisecond after each response.
    private func waits(_ client: PlainValkeyClient) throws -> Double {
        let times = try Waiting.result {
            await withTaskGroup(of: [UInt64].self) { group in
                let end = Clock.now() + UInt64(ServerWorkload.seconds * 1e9)
                for _ in 0..<ServerWorkload.clients {
                    group.addTask {
                        var times: [UInt64] = []
                        while Clock.now() < end {
                            let begun = Clock.now()
                            let (_, answered) = await client.send(
                                [Array("GET".utf8), Array("probe".utf8)], replyBytes: 7)
                            times.append(answered - begun)
                            try? await Task.sleep(for: .milliseconds(1))
                        }
                        return times
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
        }
        return Double(times.sorted()[times.count * 99 / 100])
    }
}
