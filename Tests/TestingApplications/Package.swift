// swift-tools-version: 6.2
import PackageDescription

// Tests of an application, each with a mistake that AsyncDITesting reports: `.ci/check-testing` runs them, and compares what
// they report.
let package = Package(
    name: "TestingApplications",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "AsyncDI", path: "../..")],
    targets: [
        .target(name: "Shop", dependencies: [.product(name: "AsyncDI", package: "AsyncDI")]),
        .testTarget(
            name: "ReportTests",
            dependencies: [
                "Shop", .product(name: "AsyncDI", package: "AsyncDI"),
                .product(name: "AsyncDITesting", package: "AsyncDI"),
            ], exclude: ["Shop.json"]),
    ],
    swiftLanguageModes: [.v6]
)
