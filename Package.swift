// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors only in checks of this package: a newer compiler's warning must not break a user's build, for which CI may be
// set, too. The Makefile sets this variable if CI is set.
let strict: [SwiftSetting] =
    Context.environment["VELLUM_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

// The commit shown by `vellum --version`, set by the Makefile.
let commit: [CSetting] =
    Context.environment["VELLUM_COMMIT"].map { [.define("VELLUM_COMMIT", to: "\"\($0)\"")] } ?? []

let platformsWithoutCombine: [Platform] = [.linux, .android, .windows]

let package = Package(
    name: "Vellum",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Vellum", targets: ["Vellum"]),
        .library(name: "VellumTesting", targets: ["VellumTesting"]),
        .library(name: "VellumMetrics", targets: ["VellumMetrics"]),
        .library(name: "VellumLifecycle", targets: ["VellumLifecycle"]),
        .library(name: "VellumValkey", targets: ["VellumValkey", "VellumRemote"]),
        .library(name: "NestValkey", targets: ["NestRemote", "VellumValkey", "VellumRemote"]),
        .library(name: "ArchiveQuery", targets: ["ArchiveQuery"]),
        .library(name: "CacheAdvance", targets: ["CacheAdvance"]),
        .library(name: "Nest", targets: ["Nest"]),
        .library(name: "Papyrus", targets: ["Papyrus"]),
        .library(name: "StorageEngine", targets: ["StorageEngine"]),
        .library(name: "CBOR", targets: ["CBOR"]),
        .executable(name: "vellum", targets: ["VellumCommand"]),
    ],
    traits: [
        .trait(
            name: "ServiceLifecycle",
            description: "The product VellumLifecycle, for which swift-service-lifecycle is fetched."),
        .trait(
            name: "Valkey",
            description: "The products VellumValkey and NestValkey, for which swift-nio is fetched."),
        // Separate, because its dependency takes as long to build as all others.
        .trait(
            name: "ValkeyTLS",
            description:
                "TLS for VellumValkey and for the browser on servers, for which swift-nio-ssl is fetched.",
            enabledTraits: ["Valkey"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
        // For the program's settings file.
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        // For the product VellumMetrics.
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        // For the product VellumLifecycle, if its trait is enabled.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
        // For the products VellumValkey and NestValkey, if their trait is enabled.
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        // For TLS of these products, if that trait is enabled.
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        // For the product Papyrus on platforms without Combine.
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .target(name: "CPlatform"),
        // Glibc, Musl or Darwin.
        .target(name: "SystemC", swiftSettings: strict),
        .target(name: "CDemoData"),
        .target(name: "CacheSimulation", swiftSettings: strict),
        .target(
            name: "CNcurses", cSettings: commit,
            linkerSettings: [
                .linkedLibrary("ncursesw", .when(platforms: [.linux])),
                // The system's own curses has wide characters under the plain name.
                .linkedLibrary("ncurses", .when(platforms: [.macOS])),
            ]),
        .target(name: "CBOR", swiftSettings: strict),
        .target(name: "StorageEngine", dependencies: ["CPlatform", "SystemC"], swiftSettings: strict),
        .target(
            name: "ArchiveQuery", dependencies: ["StorageEngine", "CBOR", "SystemC"], swiftSettings: strict),
        .target(
            name: "Vellum",
            dependencies: [
                "StorageEngine", "ArchiveQuery", "CBOR", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .target(name: "CacheAdvance", dependencies: ["CPlatform", "SystemC"], swiftSettings: strict),
        .target(name: "Nest", dependencies: ["StorageEngine", "CBOR"], swiftSettings: strict),
        .target(
            name: "Papyrus",
            dependencies: [
                "StorageEngine", "CBOR", .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "OpenCombine", package: "OpenCombine",
                    condition: .when(platforms: platformsWithoutCombine)),
                .product(
                    name: "OpenCombineDispatch", package: "OpenCombine",
                    condition: .when(platforms: platformsWithoutCombine)),
            ],
            swiftSettings: strict),
        .target(name: "VellumTesting", dependencies: ["Vellum", "StorageEngine"], swiftSettings: strict),
        .target(
            name: "VellumMetrics",
            dependencies: ["Vellum", .product(name: "CoreMetrics", package: "swift-metrics")],
            swiftSettings: strict),
        .target(
            name: "VellumLifecycle",
            dependencies: [
                "Vellum", "VellumMetrics",
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
            ],
            swiftSettings: strict),
        .target(name: "ValkeyWire", dependencies: ["StorageEngine"], swiftSettings: strict),
        .target(
            name: "VellumRemote", dependencies: ["VellumMetrics", "Vellum", "StorageEngine"],
            swiftSettings: strict),
        .target(
            name: "NestRemote", dependencies: ["Nest", "VellumRemote", "Vellum", "StorageEngine"],
            swiftSettings: strict),
        .target(
            name: "VellumValkey",
            dependencies: [
                "VellumRemote", "Vellum", "StorageEngine", "ValkeyWire", "SystemC",
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Valkey"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Valkey"])),
                .product(name: "NIOTLS", package: "swift-nio", condition: .when(traits: ["ValkeyTLS"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["ValkeyTLS"])),
            ],
            swiftSettings: strict),
        .target(name: "TerminalKit", swiftSettings: strict),
        .target(
            name: "TerminalCurses", dependencies: ["TerminalKit", "CNcurses", "SystemC"],
            swiftSettings: strict),
        .target(
            name: "StoreInspection",
            dependencies: [
                "StorageEngine", "ArchiveQuery", "CBOR", "TerminalKit", "CacheSimulation", "SystemC",
            ],
            swiftSettings: strict),
        .target(
            name: "ServerInspection",
            dependencies: [
                "StoreInspection", "StorageEngine", "ArchiveQuery", "CBOR", "ValkeyWire", "SystemC",
            ],
            swiftSettings: strict),
        .target(
            name: "BrowserCore",
            dependencies: [
                "StoreInspection", "ServerInspection", "CacheAdvance", "StorageEngine", "ArchiveQuery",
                "CBOR", "TerminalKit", "CacheSimulation",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "VellumCommand",
            dependencies: [
                "CacheAdvance", "StorageEngine", "ArchiveQuery", "CBOR", "TerminalKit", "TerminalCurses",
                "StoreInspection", "ServerInspection", "BrowserCore", "CacheSimulation", "CDemoData",
                "SystemC",
                .target(name: "VellumValkey", condition: .when(traits: ["ValkeyTLS"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "TOMLKit", package: "TOMLKit"),
            ],
            swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["CPlatform"], path: "Tests/TestSupport", swiftSettings: strict
        ),
        .testTarget(
            name: "CBORTests", dependencies: ["CBOR", "TestSupport"], exclude: ["Reader"],
            swiftSettings: strict),
        .testTarget(
            name: "StorageEngineTests",
            dependencies: ["StorageEngine", "CPlatform", "StoreWorker", "TestSupport"],
            exclude: ["Fixtures", "Reader"], swiftSettings: strict),
        .executableTarget(
            name: "StoreWorker", dependencies: ["StorageEngine", "CacheAdvance", "CPlatform", "TestSupport"],
            path: "Tests/StoreWorker",
            swiftSettings: strict),
        .testTarget(
            name: "ArchiveQueryTests",
            dependencies: ["ArchiveQuery", "StorageEngine", "CBOR", "TestSupport"],
            exclude: ["Golden", "Reader"], swiftSettings: strict),
        .testTarget(
            name: "VellumTests",
            dependencies: [
                "Vellum", "VellumTesting", "VellumMetrics", "StorageEngine", "ArchiveQuery", "CBOR",
                "ObjectWorker", "OperationCounter", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: strict),
        // A program that stores objects, like a user's.
        .executableTarget(
            name: "ObjectWorker", dependencies: ["Vellum"], path: "Tests/ObjectWorker", swiftSettings: strict),
        // `make counts`.
        .executableTarget(
            name: "OperationCounter", dependencies: ["Vellum", "ArchiveQuery", "StorageEngine"],
            path: "Tests/OperationCounter", swiftSettings: strict),
        .testTarget(
            name: "CacheAdvanceTests",
            dependencies: ["CacheAdvance", "CPlatform", "StoreWorker", "TestSupport"], exclude: ["Reader"],
            swiftSettings: strict),
        .testTarget(
            name: "CacheSimulationTests", dependencies: ["CacheSimulation"], swiftSettings: strict),
        .testTarget(
            name: "NestTests", dependencies: ["Nest", "StorageEngine", "CBOR", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PapyrusTests",
            dependencies: [
                "Papyrus", "PapyrusGoods", "PapyrusWorker", "StorageEngine", "CBOR", "TestSupport",
            ],
            swiftSettings: strict),
        // Objects that the tests and their worker share.
        .target(
            name: "PapyrusGoods", dependencies: ["Papyrus"], path: "Tests/PapyrusGoods", swiftSettings: strict
        ),
        // A program that stores objects beside the tests, and may be killed.
        .executableTarget(
            name: "PapyrusWorker", dependencies: ["Papyrus", "PapyrusGoods"], path: "Tests/PapyrusWorker",
            swiftSettings: strict),
        .testTarget(
            name: "TerminalKitTests", dependencies: ["TerminalKit", "TestSupport"],
            exclude: ["Fixtures", "Golden"],
            swiftSettings: strict),
        // The program that TerminalCursesTests drive through a pseudo-terminal.
        .executableTarget(
            name: "TerminalProbe", dependencies: ["TerminalCurses", "TerminalKit"],
            path: "Tests/TerminalProbe", swiftSettings: strict),
        .testTarget(
            name: "TerminalCursesTests",
            dependencies: ["TerminalCurses", "TerminalKit", "TerminalProbe", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "StoreInspectionTests",
            dependencies: [
                "StoreInspection", "StorageEngine", "CBOR", "TerminalKit", "CacheSimulation", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "BrowserCoreTests",
            dependencies: [
                "BrowserCore", "StoreInspection", "CacheAdvance", "StorageEngine", "ArchiveQuery", "CBOR",
                "TerminalKit", "CacheSimulation", "TestSupport",
            ],
            exclude: ["Golden"],
            swiftSettings: strict),
        .testTarget(
            name: "VellumCommandTests",
            dependencies: [
                "VellumCommand", "StoreInspection", "CacheAdvance", "StorageEngine", "ArchiveQuery", "CBOR",
                "TerminalKit", "Nest", "Papyrus", "Cities", "ServerSupport", "TestSupport",
            ],
            swiftSettings: strict),
        // The tutorial's package; the soak also builds it as a package.
        .executableTarget(
            name: "Cities", dependencies: ["Vellum"], path: "Tests/ExampleApp/Sources", swiftSettings: strict),
        .target(
            name: "FuzzTargets",
            dependencies: ["StorageEngine", "ArchiveQuery", "CBOR", "TerminalKit", "CPlatform"],
            path: "Tests/FuzzTargets", swiftSettings: strict),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzTargets", "TestSupport"], exclude: ["Inputs"],
            swiftSettings: strict),
        // Servers that tests start and stop.
        .target(
            name: "ServerSupport", dependencies: ["StorageEngine", "ValkeyWire", "TestSupport"],
            path: "Tests/ServerSupport",
            swiftSettings: strict),
        .testTarget(
            name: "ServerInspectionTests",
            dependencies: [
                "ServerInspection", "BrowserCore", "StoreInspection", "StorageEngine", "ArchiveQuery", "CBOR",
                "ValkeyWire", "TerminalKit", "ServerSupport", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ValkeyWireTests", dependencies: ["ValkeyWire", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "ValkeyTests",
            dependencies: [
                "VellumValkey", "VellumRemote", "VellumMetrics", "Vellum", "StorageEngine", "ValkeyWire",
                "ValkeyWorker", "Nest", "NestRemote", "ServerSupport", "TestSupport",
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: strict),
        // One of the machines that share a server.
        .executableTarget(
            name: "ValkeyWorker", dependencies: ["VellumValkey", "VellumRemote", "Vellum", "TestSupport"],
            path: "Tests/ValkeyWorker", swiftSettings: strict),
        .testTarget(name: "ArchitectureTests", exclude: ["Prose.txt"], swiftSettings: strict),
    ]
)
