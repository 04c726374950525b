/// Allowed imports. A new folder under `Sources` needs a row.
struct ModuleTable {
    /// Each module's imports among the package's modules. Others are forbidden.
    let allowed: [String: Set<String>]
    /// Modules of the system or of other packages that only some modules may import, with those.
    let restricted: [String: Set<String>]
    /// Modules that may name curses.
    let curses: Set<String>
    /// Modules that an importer may import in one folder only, with that folder.
    let confined: [String: [String: String]]

    static let vellum: ModuleTable = {
        var allowed: [String: Set<String>] = [
            "CPlatform": [],
            "SystemC": [],
            "CNcurses": [],
            "CDemoData": [],
            "CacheSimulation": [],
            "CBOR": [],
            "StorageEngine": ["CPlatform", "SystemC"],
            "ArchiveQuery": ["StorageEngine", "CBOR", "SystemC"],
            "Vellum": ["StorageEngine", "ArchiveQuery", "CBOR"],
            "VellumTesting": ["Vellum", "StorageEngine"],
            "VellumMetrics": ["Vellum"],
            "VellumLifecycle": ["Vellum", "VellumMetrics"],
            "ValkeyWire": ["StorageEngine"],
            "VellumRemote": ["VellumMetrics", "Vellum", "StorageEngine"],
            "VellumValkey": ["VellumRemote", "Vellum", "StorageEngine", "ValkeyWire", "SystemC"],
            "Papyrus": ["StorageEngine", "CBOR"],
            "CacheAdvance": ["CPlatform", "SystemC"],
            "Nest": ["StorageEngine", "CBOR"],
            "NestRemote": ["Nest", "VellumRemote", "Vellum", "StorageEngine"],
            "TerminalKit": [],
            "TerminalCurses": ["TerminalKit", "CNcurses", "SystemC"],
            "StoreInspection": [
                "StorageEngine", "ArchiveQuery", "CBOR", "TerminalKit", "CacheSimulation", "SystemC",
            ],
            "ServerInspection": [
                "StoreInspection", "StorageEngine", "ArchiveQuery", "CBOR", "ValkeyWire", "SystemC",
            ],
            "BrowserCore": [
                "StoreInspection", "ServerInspection", "CacheAdvance", "StorageEngine", "ArchiveQuery",
                "CBOR", "TerminalKit", "CacheSimulation",
            ],
        ]
        let modules = Set(allowed.keys)
        // The command imports everything, but C only through the modules that wrap it.
        allowed["VellumCommand"] = modules.subtracting(["CPlatform", "CNcurses"])

        let all = modules.union(["VellumCommand"])
        let withFoundation = all.subtracting(["StorageEngine"])
        return ModuleTable(
            allowed: allowed,
            restricted: [
                "ArgumentParser": ["VellumCommand"],
                "TOMLKit": ["VellumCommand"],
                "OpenCombine": ["Papyrus"],
                "OpenCombineDispatch": ["Papyrus"],
                "CoreMetrics": ["VellumMetrics"],
                "ServiceLifecycle": ["VellumLifecycle"],
                "NIOCore": ["VellumValkey"],
                "NIOPosix": ["VellumValkey"],
                "NIOSSL": ["VellumValkey"],
                // The engine stays small and quick to start: bytes, and the system's C library.
                "Foundation": withFoundation,
                "FoundationEssentials": withFoundation,
                "FoundationInternationalization": withFoundation,
                "FoundationNetworking": withFoundation,
                // SwiftPM would build such tests, and `make test` would not run them.
                "XCTest": [],
            ],
            curses: ["CNcurses", "TerminalCurses"],
            // StoreInspection has the texts of both front ends; the command imports the browser as a whole.
            confined: ["VellumCommand": ["BrowserCore": "Browse"]])
    }()

    /// Why `importer` must not import `imported`, or nil if it may.
    func violation(of imported: String, in importer: String) -> String? {
        if imported == importer { return nil }
        if allowed[imported] != nil, allowed[importer]?.contains(imported) != true {
            let may = (allowed[importer] ?? []).sorted().joined(separator: ", ")
            return "\(importer) must not import \(imported); of this package it may import: "
                + (may.isEmpty ? "nothing" : may)
        }
        if let importers = restricted[imported], !importers.contains(importer) {
            let may =
                importers.count > 4 ? "" : "; only these may: \(importers.sorted().joined(separator: ", "))"
            return "\(importer) must not import \(imported)" + may
        }
        return nil
    }

    /// Why a file must not import a module that its module may import, or nil if it may.
    func confinement(of imported: String, in importer: String, at path: String) -> String? {
        guard let folder = confined[importer]?[imported], !path.hasPrefix("Sources/\(importer)/\(folder)/")
        else { return nil }
        return "\(importer) imports \(imported) in \(folder)/ only"
    }

    /// A cycle of imports, or nil.
    func cycle() -> [String]? {
        func visit(_ module: String, _ path: [String]) -> [String]? {
            if path.contains(module) { return path + [module] }
            for next in (allowed[module] ?? []).sorted() {
                if let found = visit(next, path + [module]) { return found }
            }
            return nil
        }
        return allowed.keys.sorted().lazy.compactMap { visit($0, []) }.first
    }
}
