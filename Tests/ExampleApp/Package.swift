// swift-tools-version: 6.2
import PackageDescription

// A user's package: it depends on the library's product and on nothing else. The tutorial of the library shows it.
let package = Package(
    name: "Cities",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Vellum", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Cities", dependencies: [.product(name: "Vellum", package: "Vellum")], path: "Sources")
    ]
)
