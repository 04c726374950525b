import TestSupport
import Foundation
import StorageEngine

/// Model of the medium below a folder: the bytes and names that a power loss would leave, derived from the engine's
/// system events.
///
/// Bytes of a file become durable when it is synced. Names of a folder become durable when it is synced, or earlier, in
/// the order of their changes. A power loss keeps any part of the later writes, in pages of 4 KiB or sectors of 512
/// bytes. Safe from any thread.
final class Medium: @unchecked Sendable {
    /// A file, whatever its names.
    private final class Node {
        var durable = Data()
        /// Bytes when the last name was removed; until then they are read from the file.
        var last: Data?
    }

    private enum NameChange {
        case link(path: String, Node)
        case unlink(path: String)
        case rename(from: String, to: String)
        case folder(path: String)
    }

    private let root: String
    private let lock = NSLock()
    private var observer = 0
    /// Current names, durable names, and the changes between them in order.
    private var present: [String: Node] = [:]
    private var durableNames: [String: Node] = [:]
    private var durableFolders: Set<String> = []
    private var pending: [NameChange] = []
    /// Bytes of a synced file are read after the sync, so the workload must have one thread.
    init(root: String) {
        self.root = root
        // All existing files are durable.
        for name in FileManager.default.enumerator(atPath: root)?.allObjects as? [String] ?? [] {
            var isFolder: ObjCBool = false
            let path = root + "/" + name
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
            guard !isFolder.boolValue else {
                durableFolders.insert(path)
                continue
            }
            let node = Node()
            node.durable = Medium.bytes(of: path)
            present[path] = node
            durableNames[path] = node
        }
        observer = SystemFaults.observe(under: root) { [weak self] event in self?.note(event) }
    }

    deinit { SystemFaults.endObserving(observer) }

    private static func bytes(of path: String) -> Data {
        (try? contents(of: path)) ?? Data()
    }

    private func note(_ event: SystemEvent) {
        lock.withLock {
            switch event {
            case .syncing: break
            case .created(let path):
                let node = Node()
                present[path] = node
                pending.append(.link(path: path, node))
            case .madeFolder(let path):
                pending.append(.folder(path: path))
            case .renamed(let from, let to):
                if let replaced = present[to] { replaced.last = Data() }
                present[to] = present.removeValue(forKey: from)
                pending.append(.rename(from: from, to: to))
            case .unlinked(let path):
                guard let node = present.removeValue(forKey: path) else { return }
                node.last = Medium.bytes(of: path)
                pending.append(.unlink(path: path))
            case .synced(let path):
                if let node = present[path] {
                    node.durable = Medium.bytes(of: path)
                } else {
                    settle(folder: path)
                }
            }
        }
    }

    /// Makes the names of a folder durable, and all earlier changes.
    private func settle(folder: String) {
        let isInside = { (path: String) in (path as NSString).deletingLastPathComponent == folder }
        let last = pending.lastIndex { change in
            switch change {
            case .link(let path, _), .unlink(let path), .folder(let path), .rename(_, let path):
                isInside(path)
            }
        }
        guard let last else { return }
        for change in pending[...last] { apply(change, &durableNames, &durableFolders) }
        pending.removeSubrange(...last)
    }

    private func apply(
        _ change: NameChange, _ names: inout [String: Node], _ folders: inout Set<String>
    ) {
        switch change {
        case .link(let path, let node): names[path] = node
        case .unlink(let path): names[path] = nil
        case .rename(let from, let to): names[to] = names.removeValue(forKey: from)
        case .folder(let path): folders.insert(path)
        }
    }

    /// Writes the files that a power loss would leave now to the folder `target`, without indexes. Returns the numbers
    /// of unsynced blocks kept and lost, and their size.
    @discardableResult
    func cutPower(
        into target: String, using random: inout SeededGenerator
    ) throws -> (kept: Int, lost: Int, block: Int) {
        try lock.withLock {
            var names = durableNames
            var folders = durableFolders
            for change in pending.prefix(Int.random(in: 0...pending.count, using: &random)) {
                apply(change, &names, &folders)
            }
            let paths = Dictionary(
                present.map { (ObjectIdentifier($0.value), $0.key) }, uniquingKeysWith: { first, _ in first })
            let share = [0.0, 0.1, 0.5, 0.9, 1.0].randomElement(using: &random) ?? 0.5
            let block = Bool.random(using: &random) ? 4096 : 512
            var counts = (kept: 0, lost: 0, block: block)
            for folder in folders.sorted() {
                try FileManager.default.createDirectory(
                    atPath: moved(folder, to: target), withIntermediateDirectories: true)
            }
            for (path, node) in names.sorted(by: { $0.key < $1.key }) {
                if (path as NSString).lastPathComponent.hasPrefix("index") { continue }
                let now = node.last ?? paths[ObjectIdentifier(node)].map(Medium.bytes) ?? node.durable
                var image = node.durable
                // A change of size is kept or lost like a block.
                if now.count > image.count, Double.random(in: 0..<1, using: &random) < share {
                    image += Data(count: now.count - image.count)
                }
                var start = 0
                while start < min(image.count, now.count) {
                    let end = min(start + block, image.count, now.count)
                    if image[start..<end] != now[start..<end] {
                        if Double.random(in: 0..<1, using: &random) < share {
                            image.replaceSubrange(start..<end, with: now[start..<end])
                            counts.kept += 1
                        } else {
                            counts.lost += 1
                        }
                    }
                    start = end
                }
                let file = URL(fileURLWithPath: moved(path, to: target))
                guard FileManager.default.fileExists(atPath: file.deletingLastPathComponent().path) else {
                    continue
                }
                try image.write(to: file)
            }
            return counts
        }
    }

    private func moved(_ path: String, to target: String) -> String {
        target + path.dropFirst(root.count)
    }
}
