// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")

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
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        // Domain, storage, handlers and routes, without AsyncDI.
        .target(
            name: "NotesService",
            dependencies: [
                configuration, grdb, hummingbird, lifecycle, logging, metrics, nio, nioHTTP1, nioPosix, tracing,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),

        // Composition root and middleware: all code that knows AsyncDI.
        .target(
            name: "NotesComposition",
            dependencies: [
                "NotesService", hummingbird, lifecycle, logging, metrics, nio, tracing,
                .product(name: "AsyncDI", package: "AsyncDI"),
            ],
            swiftSettings: settings),

        // Twin without a container.
        .target(
            name: "NotesByHand",
            dependencies: ["NotesService", hummingbird, lifecycle, logging, nio, tracing],
            swiftSettings: settings),

        .executableTarget(
            name: "notes", dependencies: ["NotesComposition", "NotesService", logging], swiftSettings: settings),
        .executableTarget(
            name: "notes-by-hand", dependencies: ["NotesByHand", "NotesService", logging], swiftSettings: settings),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "NotesByHand", "NotesComposition", "NotesService",
                configuration, grdb, hummingbird, lifecycle, logging, nio, nioPosix, tracing,
                .product(name: "AsyncDI", package: "AsyncDI"),
                .product(name: "AsyncDITesting", package: "AsyncDI"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            exclude: ["Wiring.json"],
            swiftSettings: [.enableUpcomingFeature("ExistentialAny")]),
    ],
    swiftLanguageModes: [.v6]
)
