import Foundation

/// Progress goes to standard error, figures to standard output.
enum Narration {
    static func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
