// swift-tools-version: 6.2
import PackageDescription

// A user's package: a server whose store is one of its services.
let package = Package(
    name: "ServiceApp",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Vellum", path: "../..", traits: ["ServiceLifecycle"]),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "ServiceApp",
            dependencies: [
                .product(name: "Vellum", package: "Vellum"),
                .product(name: "VellumLifecycle", package: "Vellum"),
                .product(name: "VellumMetrics", package: "Vellum"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ], path: "Sources")
    ]
)
