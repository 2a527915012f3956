// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "AsyncDI",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2), .macCatalyst(.v18)],
    products: [
        .library(name: "AsyncDI", targets: ["AsyncDI"]),
        .library(name: "AsyncDITesting", targets: ["AsyncDITesting"]),
        // What an application's wiring check is made of, and what runs it: while the application is built, or on demand.
        .library(name: "AsyncDIWiring", targets: ["AsyncDIWiring"]),
        .plugin(name: "AsyncDIWiringPlugin", targets: ["AsyncDIWiringPlugin"]),
        .plugin(name: "AsyncDIWiringCommand", targets: ["AsyncDIWiringCommand"]),
    ],
    targets: [
        .target(name: "AsyncDI"),
        // For tests of applications: a target of its own, because `Testing` is found by tests only.
        .target(name: "AsyncDITesting", dependencies: ["AsyncDI"]),
        .target(name: "AsyncDIWiring", dependencies: ["AsyncDI"]),
        .executableTarget(name: "AsyncDIBuildFolder"),
        .plugin(name: "AsyncDIWiringPlugin", capability: .buildTool(), dependencies: ["AsyncDIBuildFolder"]),
        .plugin(
            name: "AsyncDIWiringCommand",
            capability: .command(
                intent: .custom(verb: "check-wiring", description: "Checks the wiring of an application."))),
        .testTarget(name: "AsyncDIWiringTests", dependencies: ["AsyncDI", "AsyncDIWiring"]),
        .testTarget(name: "AsyncDITests", dependencies: ["AsyncDI"]),
        .testTarget(name: "AsyncDITestingTests", dependencies: ["AsyncDITesting"], exclude: ["Shop.json"]),
        // The documented call sites, compiled as a user's nonisolated code and as a target with the settings of a new
        // application: main actor by default, and approachable concurrency.
        .testTarget(name: "CallSiteTests", dependencies: ["AsyncDI"]),
        .testTarget(
            name: "MainActorCallSiteTests",
            dependencies: ["AsyncDI"],
            swiftSettings: [
                .defaultIsolation(MainActor.self),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableUpcomingFeature("InferIsolatedConformances"),
            ]
        ),
        // The code of README and guides, of which one is about main-actor-by-default targets.
        .testTarget(
            name: "DocumentationTests", dependencies: ["AsyncDI", "AsyncDITesting"],
            exclude: ["MainActorByDefault", "Wiring.json"]),
        .testTarget(
            name: "MainActorDocumentationTests",
            dependencies: ["AsyncDI"],
            path: "Tests/DocumentationTests/MainActorByDefault",
            swiftSettings: [.defaultIsolation(MainActor.self)]
        ),
        // Public API only, so that it also runs with `-c release`, as users get the library.
        .testTarget(name: "StressTests", dependencies: ["AsyncDI", "AsyncDITesting"], path: "StressTests"),
    ],
    swiftLanguageModes: [.v6]
)

// For `.ci/run` only: the tests that look inside do not compile with the library as users get it, without `-enable-testing`.
if Context.environment["ASYNCDI_WITHOUT_INTERNAL_TESTS"] == "1" {
    package.targets.removeAll { ["AsyncDITests", "AsyncDITestingTests", "AsyncDIWiringTests"].contains($0.name) }
}

for target in package.targets where target.type != .plugin {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("InternalImportsByDefault"),
        ]
    // For `.ci/run` only: a user's build must not fail because a newer compiler warns.
    if Context.environment["ASYNCDI_WARNINGS_ARE_ERRORS"] == "1" {
        target.swiftSettings?.append(.treatAllWarnings(as: .error))
        // By default a process compiles 25 files, and each of them expands the macros of every suite of the module.
        if target.type == .test { target.swiftSettings?.append(.unsafeFlags(["-driver-batch-size-limit", "65"])) }
    }
}
