// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "AsyncDI", path: ".."), .package(path: "../Exploration")],
    targets: [
        // The runner of libFuzzer, which is C.
        .target(name: "FuzzerDriver"),
        .executableTarget(
            name: "fuzz",
            dependencies: ["AsyncDI", "FuzzerDriver", .product(name: "Exploration", package: "Exploration")],
            path: "Sources/Fuzz",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
