package import AsyncDI

struct File: Sendable {}
struct Log: Sendable {}

package func makeContainer() -> Container {
    Container(name: "app", onDuplicate: .reject) {
        Registration(Log.self) { _ in Log() }
        Registration(File.self) { _ in File() }.onDispose { _ in }
        Registration(Log.self) { _ in Log() }
        Decoration(String.self) { _, inner in inner }
        Registration(using: { (log: Log) in [log] }, with: .leased)
    }
}
