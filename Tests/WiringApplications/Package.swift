// swift-tools-version: 6.2

import PackageDescription

// Applications whose wiring is right, and wrong in every way that a check finds: built by `.ci/check-wiring`.
//
// Each is a library with the wiring, a check, and a program in whose build the check runs.
let kinds = [
    "Right", "Missing", "Mismatched", "Cyclic", "Captive", "Contradictory", "Unsupplied", "MainActorByDefault",
    "Large",
]

let package = Package(
    name: "WiringApplications",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "AsyncDI", path: "../..")],
    targets: kinds.flatMap { kind -> [Target] in
        let library = Target.Dependency.product(name: "AsyncDI", package: "AsyncDI")
        let settings: [SwiftSetting] = kind == "MainActorByDefault" ? [.defaultIsolation(MainActor.self)] : []
        return [
            .target(name: "\(kind)Wiring", dependencies: [library], swiftSettings: settings),
            .executableTarget(
                name: "Check\(kind)",
                dependencies: [
                    .target(name: "\(kind)Wiring"), library, .product(name: "AsyncDIWiring", package: "AsyncDI"),
                ],
                swiftSettings: settings),
            .executableTarget(
                name: kind, dependencies: [.target(name: "\(kind)Wiring"), library], swiftSettings: settings,
                plugins: [.plugin(name: "AsyncDIWiringPlugin", package: "AsyncDI")]),
        ]
    },
    swiftLanguageModes: [.v6]
)
