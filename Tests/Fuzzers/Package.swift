// swift-tools-version: 6.2
import PackageDescription

// A separate package, because a program with libFuzzer has no `main`; built by `make fuzz` with --sanitize=fuzzer. Its
// modules are the package's sources (`.package` links to its root), so that fuzzers reach package symbols and all code
// is instrumented. `Sources/Import` links to the readers of import files.
let package = Package(
    name: "VellumFuzzers",
    platforms: [.macOS(.v15)],
    targets: [
        .target(name: "CPlatform", path: ".package/Sources/CPlatform"),
        .target(name: "SystemC", path: ".package/Sources/SystemC"),
        .target(name: "CBOR", path: ".package/Sources/CBOR"),
        .target(
            name: "StorageEngine", dependencies: ["CPlatform", "SystemC"],
            path: ".package/Sources/StorageEngine"),
        .target(
            name: "ArchiveQuery", dependencies: ["StorageEngine", "CBOR", "SystemC"],
            path: ".package/Sources/ArchiveQuery"),
        .target(name: "TerminalKit", path: ".package/Sources/TerminalKit"),
        .target(
            name: "StoreInspection",
            dependencies: ["StorageEngine", "ArchiveQuery", "CBOR", "TerminalKit", "SystemC"],
            path: ".package/Sources/StoreInspection"),
        .target(
            name: "FuzzTargets",
            dependencies: ["StorageEngine", "ArchiveQuery", "CBOR", "TerminalKit", "CPlatform"],
            path: ".package/Tests/FuzzTargets"),
        .executableTarget(
            name: "vellum-fuzz", dependencies: ["FuzzTargets", "StoreInspection", "CBOR", "TerminalKit"],
            path: "Sources"),
    ]
)
