// swift-tools-version: 6.2
import PackageDescription

// A user's package, with nothing but the product CacheAdvance.
let package = Package(
    name: "CacheAdvanceApp",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Vellum", path: "../..")],
    targets: [
        .executableTarget(
            name: "CacheAdvanceApp", dependencies: [.product(name: "CacheAdvance", package: "Vellum")],
            path: "Sources")
    ]
)
