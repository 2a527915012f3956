// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Tour",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "AsyncDI", path: "../..")],
    targets: [
        .target(name: "TourKit", dependencies: [.product(name: "AsyncDI", package: "AsyncDI")]),
        .executableTarget(name: "tour", dependencies: ["TourKit"]),
        .testTarget(
            name: "TourKitTests",
            dependencies: [
                "TourKit", .product(name: "AsyncDI", package: "AsyncDI"),
                .product(name: "AsyncDITesting", package: "AsyncDI"),
            ],
            exclude: ["Wiring.json"]),
    ],
    swiftLanguageModes: [.v6]
)
