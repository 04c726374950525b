// swift-tools-version: 6.2
import PackageDescription

// A user's package, with nothing but the product Nest.
let package = Package(
    name: "NestApp",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Vellum", path: "../..")],
    targets: [
        .executableTarget(
            name: "NestApp", dependencies: [.product(name: "Nest", package: "Vellum")], path: "Sources")
    ]
)
