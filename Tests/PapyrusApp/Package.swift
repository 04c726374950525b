// swift-tools-version: 6.2
import PackageDescription

// A user's package, with nothing but the product Papyrus.
let package = Package(
    name: "PapyrusApp",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Vellum", path: "../..")],
    targets: [
        .executableTarget(
            name: "PapyrusApp", dependencies: [.product(name: "Papyrus", package: "Vellum")], path: "Sources")
    ]
)
