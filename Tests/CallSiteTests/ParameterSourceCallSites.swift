import AsyncDI
import Testing

/// The sources of an initializer's parameters, compiled and run as users get the library: in release, too.
@Suite(.timeLimit(.minutes(10)))
struct ParameterSourceCallSites {
    struct Store: Sendable {}

    struct Page: Sendable, Equatable {
        var text: String
    }

    private func texts(_ container: Container) async throws -> [String] {
        [
            try await container.resolve(Page.self, arguments: "Oslo").text,
            try await container.resolve(Page.self, arguments: "Oslo", 7).text,
            try await container.resolve(Page.self, arguments: "Oslo", 7, true).text,
            try await container.resolve(Page.self, arguments: 7, "Oslo", [1, 2], Set(["a"])).text,
        ]
    }

    private let expected = ["Oslo", "Oslo 7", "Oslo 7 true", "7 Oslo [1, 2] [\"a\"]"]

    @Test
    func `one to four parameters are arguments, in any position`() async throws {
        let container = Container {
            Registration(instance: Store())
            Registration(
                using: { (name: String, _: Store) in Page(text: name) }, taking: String.self, lifetime: .multiton)
            Registration(
                using: { (_: Store, name: String, number: Int) in Page(text: "\(name) \(number)") },
                with: .resolved, .argument, .argument, lifetime: .multiton)
            Registration(
                using: { (name: String, _: Store, number: Int, isLast: Bool) in
                    Page(text: "\(name) \(number) \(isLast)")
                },
                with: .argument, .resolved, .argument, .argument)
            Registration(
                using: { (number: Int, name: String, list: [Int], set: Set<String>) in
                    Page(text: "\(number) \(name) \(list) \(set)")
                },
                with: .argument, .argument, .argument, .argument, lifetime: .scoped)
        }
        #expect(try await texts(container) == expected)
        #expect(try await texts(container) == expected)
        try await container.validate()
    }

    @Test
    func `the same, registered later`() async throws {
        let container = Container { Registration(instance: Store()) }
        try await container.register(
            using: { (name: String, _: Store) in Page(text: name) }, taking: String.self, lifetime: .multiton)
        try await container.register(
            using: { (_: Store, name: String, number: Int) in Page(text: "\(name) \(number)") },
            with: .resolved, .argument, .argument)
        #expect(try await container.resolve(Page.self, arguments: "Oslo").text == "Oslo")
        #expect(try await container.resolve(Page.self, arguments: "Oslo", 7).text == "Oslo 7")
    }

    @Test
    func `a parameter is qualified, made by arguments, or leased by them`() async throws {
        struct Work: Sendable {
            let pool: TenantPool
            let city: City
        }
        let container = Container {
            Registration(String.self, qualifier: Env.prod, instance: "acme")
            Registration(String.self, instance: "Oslo")
            Registration(City.self, lifetime: .multiton) { _, name in City(name: name) }
            Registration(TenantPool.self, lifetime: .multiton) { (_, tenant: String) in try await TenantPool(tenant) }
            Registration(using: Page.init(text:), with: .qualified(Env.prod))
            Registration(
                using: Work.init(pool:city:), with: .leased(by: { (page: Page) in page.text }),
                .resolved(by: String.self), lifetime: .scoped)
        }
        try await container.withScope { scope in
            let work = try await scope.resolve(Work.self)
            #expect(work.pool.tenant == "acme")
            #expect(work.city.name == "Oslo")
        }
        try await container.dispose()
    }
}
