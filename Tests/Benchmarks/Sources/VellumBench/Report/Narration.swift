import Foundation

/// Writes progress to standard error; measurements are written to standard output.
enum Narration {
    static func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
