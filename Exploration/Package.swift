// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Exploration",
    platforms: [.macOS(.v15)],
    products: [.library(name: "Exploration", targets: ["Exploration"])],
    dependencies: [.package(name: "AsyncDI", path: "..")],
    targets: [
        // The runtime's hooks, which are C function pointers with Swift's calling convention.
        .target(name: "ExplorationHooks"),
        // The deterministic scheduler, which is independent of AsyncDI.
        .target(name: "Exploration", dependencies: ["ExplorationHooks"]),
        // `explore`: the scenarios, each with its oracle.
        .executableTarget(name: "explore", dependencies: ["Exploration", "AsyncDI"], path: "Sources/Scenarios"),
        // `soak`: a server that runs for half an hour, on the machine's own threads.
        .executableTarget(name: "soak", dependencies: ["AsyncDI"], path: "Sources/Soak"),
        .testTarget(name: "ExplorationTests", dependencies: ["Exploration", "AsyncDI"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.name != "ExplorationHooks" {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}
