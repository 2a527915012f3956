// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Notes",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "notes", targets: ["notes"]),
        .executable(name: "notes-by-hand", targets: ["notes-by-hand"]),
    ],
    dependencies: [
        .package(name: "AsyncDI", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(
            url: "https://github.com/apple/swift-configuration", from: "1.4.0",
            traits: [.defaults, "CommandLineArguments"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        // Domain, storage, handlers and routes. This target cannot import AsyncDI.
        .target(
            name: "NotesService",
            dependencies: [
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),

        // Composition root and middleware: all code that knows AsyncDI.
        .target(
            name: "NotesComposition",
            dependencies: ["NotesService", .product(name: "AsyncDI", package: "AsyncDI")],
            swiftSettings: settings),

        // Twin without a container.
        .target(name: "NotesByHand", dependencies: ["NotesService"], swiftSettings: settings),

        .executableTarget(name: "notes", dependencies: ["NotesComposition"], swiftSettings: settings),
        .executableTarget(name: "notes-by-hand", dependencies: ["NotesByHand"], swiftSettings: settings),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "NotesByHand",
                "NotesComposition",
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            swiftSettings: [.enableUpcomingFeature("ExistentialAny")]),
    ],
    swiftLanguageModes: [.v6]
)
