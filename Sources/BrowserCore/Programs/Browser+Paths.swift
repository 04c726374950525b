import Foundation
import ServerInspection
import StoreInspection
import TerminalKit

extension Browser {
    /// Completes the path in a prompt to the common prefix of the matching names, and shows these names.
    static func completePath(_ typed: String, _ model: Model) -> [Effect] {
        guard !ServerAddress.isURL(typed) else { return [] }
        let beginning = typed.lastIndex(of: "/").map { typed[...$0] } ?? ""
        let folder = filePath(beginning.isEmpty ? "." : String(beginning), model)
        let name = typed.dropFirst(beginning.count)
        return .ask("complete the path \(typed)") { (_) throws(SourceError) in
            try names(in: folder, beginningWith: String(name))
        } done: { model, result in
            guard let prompt = model.prompt, prompt.isPath, prompt.field.text == typed else { return }
            guard case .success(let names) = result else {
                model.prompt?.said = "the folder can't be read"
                return
            }
            guard let first = names.first else {
                model.prompt?.said = "no such file"
                return
            }
            let common = names.reduce(first) { $0.commonPrefix(with: $1, options: .literal) }
            model.prompt?.field.isSuggestion = false
            model.prompt?.field.text = String(beginning) + common
            if names.count > 1 { model.prompt?.said = names.prefix(20).joined(separator: "  ") }
        }
    }

    /// The matching UTF-8 names in a folder, with a slash after names of folders. Hidden names only if `beginning` starts with a
    /// dot.
    private static func names(
        in folder: String, beginningWith beginning: String
    ) throws(SourceError) -> [String] {
        let all: [String]
        do {
            all = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch CocoaError.fileReadNoSuchFile {
            return []
        } catch {
            throw SourceError("\(folder) can't be read: \(error.localizedDescription)")
        }
        return all.filter { $0.hasPrefix(beginning) && ($0.first != "." || beginning.first == ".") }
            .filter { !$0.unicodeScalars.contains("\u{fffd}") }.sorted()
            .map { FileKind(of: "\(folder)/\($0)") == .folder ? $0 + "/" : $0 }
    }
}
