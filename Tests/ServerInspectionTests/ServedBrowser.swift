import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

extension Served {
    /// A browser of the server after some keys.
    ///
    /// - Parameter edit: called with the text in the editor; returns the saved one.
    func browser(
        _ keys: String = "", as user: String? = nil, isReadOnly: Bool = false,
        size: Size = Size(columns: 130, rows: 32),
        edit: @escaping @Sendable (String) -> String = { $0 },
        clock: @escaping @Sendable () -> Timestamp = { .now() }
    ) throws -> HeadlessBrowser {
        var environment = BrowserEnvironment()
        environment.temporaryFolder = NSTemporaryDirectory()
        var browser = HeadlessBrowser(
            Model(
                size: size, look: Look(theme: Theme(.dark, depth: .mono)), store: address.description,
                isReadOnly: isReadOnly, now: .now(), environment: environment),
            source: try source(as: user), clock: clock,
            programs: { program in
                let path = program.arguments[0]
                guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                    return .failure(SourceError("no text"))
                }
                try? edit(text).write(toFile: path, atomically: false, encoding: .utf8)
                return .success(0)
            })
        try browser.press(keys)
        return browser
    }
}

extension HeadlessBrowser {
    var text: String { frame.plainText }

    /// Expects that the screen contains the texts `shown`, and none of `hidden`.
    func expect(
        shows shown: String..., hides hidden: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(shown, hidden, sourceLocation)
    }

    private func expect(_ shown: [String], _ hidden: [String], _ sourceLocation: SourceLocation) {
        for expected in shown { #expect(text.contains(expected), "\(text)", sourceLocation: sourceLocation) }
        for absent in hidden { #expect(!text.contains(absent), "\(text)", sourceLocation: sourceLocation) }
    }

    /// Presses the keys of a script. Expects that the screen then contains the texts `shown`, and none of `hidden`.
    mutating func press(
        _ script: String, shows shown: String..., hides hidden: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        press(try Key.script(script))
        expect(shown, hidden, sourceLocation)
    }
}
