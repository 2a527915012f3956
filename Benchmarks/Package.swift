// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "AsyncDI", path: ".."),
        // Without its traits: they interpose malloc, whose calls `valgrind --tool=callgrind` counts without changing
        // the program.
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
    ],
    targets: [
        // The allocator's own count, which Swift does not import on Linux.
        .target(name: "AllocatedBytes", path: "AllocatedBytes"),
        // How many cores the process may use.
        .target(name: "Cores", path: "Cores"),
        // `swift package benchmark` looks for executables in a folder called Benchmarks: this package is that folder.
        .executableTarget(
            name: "Speed",
            dependencies: ["AsyncDI", "AllocatedBytes", "Cores", .product(name: "Benchmark", package: "benchmark")],
            path: "Speed",
            swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
