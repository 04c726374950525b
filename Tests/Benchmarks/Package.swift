// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// RocksDB is optional.
let hasRocksDB = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"].contains {
    FileManager.default.fileExists(atPath: $0 + "/rocksdb/c.h")
}
let rocksDB: [Target] =
    hasRocksDB
    ? [
        .systemLibrary(
            name: "CRocksDB", pkgConfig: "rocksdb", providers: [.apt(["librocksdb-dev"]), .brew(["rocksdb"])])
    ] : []

// A separate package, so that the compared libraries never reach a user's build.
let package = Package(
    name: "VellumBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Vellum", path: "../..", traits: ["Valkey"]),
        // For the plain client that shared archives are compared with.
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.0.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .target(name: "CLimits"),
        .executableTarget(
            name: "vellum-bench",
            dependencies: [
                "CLMDB", "CSQLite", "CLimits",
                .product(name: "Vellum", package: "Vellum"),
                .product(name: "StorageEngine", package: "Vellum"),
                .product(name: "ArchiveQuery", package: "Vellum"),
                .product(name: "CBOR", package: "Vellum"),
                .product(name: "CacheAdvance", package: "Vellum"),
                .product(name: "Nest", package: "Vellum"),
                .product(name: "Papyrus", package: "Vellum"),
                .product(name: "VellumValkey", package: "Vellum"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ] + (hasRocksDB ? ["CRocksDB"] : []),
            path: "Sources/VellumBench",
            swiftSettings: hasRocksDB ? [.define("ROCKSDB")] : []),
    ] + rocksDB
)
