import BrowserCore
import Foundation
import TerminalKit
import Testing

/// The man page's list of keys equals the table of actions. `VELLUM_RENEW_GOLDEN=1` rewrites it.
struct ManPageTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Assets/man/vellum.1").standardized
    private static let begin = ".Sh KEYS\n"

    /// A key as a macro argument: punctuation alone would end the macro.
    private func argument(_ key: Key) -> String {
        let name = key.description
        guard name.count == 1 else { return name }
        return name == "-"
            ? "\\-" : name.contains(where: { $0.isLetter || $0.isNumber }) ? name : "\\&" + name
    }

    private var section: String {
        var text = Self.begin + "In the browser, with the screens where they apply:\n"
        text += ".Bl -tag -width ctrl+d\n"
        let order = Screen.allCases
        for action in ActionTable.keyMap().actions {
            text += ".It Ic " + action.keys.map(argument).joined(separator: " , ") + "\n"
            let screens = order.filter(action.contexts.contains).map(\.rawValue)
            text += action.help + "\n"
            text += "(" + (screens.count == order.count ? "all" : screens.joined(separator: ", ")) + ")\n"
        }
        return text + ".El\n"
    }

    @Test func listsKeysOfTable() throws {
        var text = try String(contentsOf: Self.page, encoding: .utf8)
        if ProcessInfo.processInfo.environment["VELLUM_RENEW_GOLDEN"] == "1" {
            let environment = try #require(text.range(of: ".Sh ENVIRONMENT\n")).lowerBound
            let start = text.range(of: Self.begin)?.lowerBound ?? environment
            text.replaceSubrange(start..<environment, with: section)
            try text.write(to: Self.page, atomically: true, encoding: .utf8)
        }
        #expect(text.contains(section), "run VELLUM_RENEW_GOLDEN=1 swift test --filter ManPageTests")
    }
}
