import CacheAdvance
import Foundation

struct Line: Codable {
    let text: String
}

/// Appends a message to the file that it is given, and prints all, as the page of the library does.
@main struct CacheAdvanceApp {
    static func main() throws {
        let url = URL(fileURLWithPath: CommandLine.arguments[1])
        if !FileManager.default.fileExists(atPath: url.path) { try Data().write(to: url) }
        let log = try CacheAdvance<Line>(file: url, maximumBytes: 1_000_000, shouldOverwriteOldMessages: true)
        try log.append(message: Line(text: "ready"))
        print(try log.messages().map(\.text).joined(separator: ", "))
    }
}
