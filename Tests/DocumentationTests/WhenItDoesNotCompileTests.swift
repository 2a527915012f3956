import AsyncDI
import Foundation
import Testing

/// The guide "When it does not compile" explains every message that the compiler is held to.
@Suite(.timeLimit(.minutes(10)))
struct WhenItDoesNotCompileTests {
    @Test func `every refused snippet's message is explained`() throws {
        let guide = try Guide("WhenItDoesNotCompile")
        let folder = Documents.root.appending(path: ".ci/must-not-compile").path()
        let snippets = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
        var messages: Set<String> = []
        for snippet in snippets {
            let first = Markdown.lines(try Documents.text(of: ".ci/must-not-compile/\(snippet)")).first ?? ""
            guard first.hasPrefix("// expect: ") else { continue }
            messages.insert(String(first.dropFirst("// expect: ".count)))
        }
        #expect(messages.count > 15)
        for message in messages.sorted() {
            #expect(guide.contains(message), "WhenItDoesNotCompile.md does not explain: \(message)")
        }
    }

    @Test func `the alternatives`() async throws {
        let container = Container {
            Registration(making: Parser.self) { _ in Parser() }
            Registration((any Cache).self, lifetime: .singleton) { _ in DiskCache() }
            Registration((any Journal & Sendable).self) { _ in FileJournal() }
            Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) }
            Registration(Upload.self, lifetime: .transient) { (_, onEnd: @escaping @Sendable () -> Void) in
                Upload(onEnd: onEnd)
            }
            Registration(Mailbox.self, lifetime: .multiton) { (_, tenant: String, limit: Int) in
                print("opening \(tenant)")
                return Mailbox(address: "\(tenant)@example.org", limit: limit)
            }
        }
        try await container.register(Counter.self, lifetime: .singleton) { _ in Counter() }
        let parser = try await container.make(Parser.self)
        let pool: Pool = try await container.resolve(arguments: Tenant(name: "acme"))
        let upload = try await container.resolve(Upload.self, arguments: { @Sendable in })
        #expect(parser.position == 0)
        #expect(pool.tenant.name == "acme")
        upload.onEnd()
        let caches = [try await container.resolve((any Cache).self), try await container.resolve((any Cache).self)]
        #expect(caches[0] === caches[1])
        let journal = try await container.resolve((any Journal & Sendable).self)
        #expect(journal is FileJournal)
        let counter = try await container.resolve(Counter.self)
        #expect(await counter.increment() == 1)
        #expect(try await container.resolve(Mailbox.self, arguments: "acme", 3).address == "acme@example.org")
        try await container.withScope {
            Registration(instance: Tenant(name: "acme"))
        } operation: { scope in
            _ = try await scope.resolve(Tenant.self)
        }
        try await container.dispose()
    }

    protocol Cache: AnyObject, Sendable {}

    final class DiskCache: Cache {}

    protocol Journal {}

    struct FileJournal: Journal {}

    final class Parser {
        var position = 0
    }

    struct Tenant: Hashable, Sendable {
        let name: String
    }

    final class Pool: Sendable {
        let tenant: Tenant
        init(_ tenant: Tenant) { self.tenant = tenant }
    }

    struct Mailbox: Sendable {
        let address: String
        let limit: Int
    }

    struct Upload: Sendable {
        let onEnd: @Sendable () -> Void
    }

    actor Counter {
        private var count = 0

        func increment() -> Int {
            count += 1
            return count
        }
    }
}
