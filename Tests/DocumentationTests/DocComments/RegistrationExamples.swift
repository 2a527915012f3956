import AsyncDI
import Foundation
import Testing

/// The examples in the doc comments of `Sources/AsyncDI/Registration`, `Keys` and `Lifetimes`.
@Suite(.timeLimit(.minutes(10)))
struct RegistrationExamples {
    @Test func `qualifiers distinguish registrations`() async throws {
        let container = Container {
            Registration(URL.self, qualifier: Env.prod, instance: prodURL)
            Registration(URL.self, qualifier: .named("backup"), instance: backupURL)
        }
        #expect(try await container.resolve(URL.self, qualifier: Env.prod) == prodURL)
        #expect(try await container.resolve(URL.self, qualifier: "backup") == backupURL)
    }

    @Test func `a hook sees how its scope ended`() async throws {
        let container = Container {
            Registration(UnitOfWork.self, lifetime: .scoped) { _ in UnitOfWork() }
                .onDispose { work, reason in
                    if reason.error == nil { try await work.commit() } else { await work.rollBack() }
                }
        }
        let work = try await container.withScope("job") { try await $0.resolve(UnitOfWork.self) }
        #expect(await work.isCommitted)
    }

    @Test func `a lifetime of the application's own is reset`() async throws {
        let container = Container {
            Registration(Cart.self, lifetime: .session) { _ in Cart() }
        }
        let cart = try await container.resolve(Cart.self)
        try await container.reset(.session)
        #expect(try await container.resolve(Cart.self) !== cart)
    }

    @Test func `a transient service takes a closure`() async throws {
        let container = Container {
            Registration(Button.self, lifetime: .transient) { (_, onTap: @escaping @Sendable () -> Void) in
                Button(onTap)
            }
        }
        _ = try await container.resolve(Button.self, arguments: { @Sendable in })
    }

    @Test func `a repository is decorated`() async throws {
        let container = Container {
            Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
            Decoration((any UserRepository).self) { resolver, inner in
                CachingRepository(inner, cache: try await resolver.resolve())
            }
        }
        try await container.register(Cache.self) { _ in Cache() }
        #expect(try await container.resolve((any UserRepository).self) is CachingRepository)
    }

    @Test func `a type registers itself`() async throws {
        let container = Container {
            Registration(Settings.self, lifetime: .singleton)
        }
        _ = try await container.resolve(Settings.self)
    }

    @Test func `modules contain modules`() async throws {
        let container = Container { NetworkModule() }
        _ = try await container.resolve(Cache.self)
        try await container.resolve(HTTPClient.self).shutdown()
    }

    @Test func `contributions have keys`() async throws {
        let container = Container {
            Registration(using: CSVExporter.init, as: (any Exporter).self).intoMany(key: "csv")
            Registration((any Exporter).self, lifetime: .singleton) { _ in PDFExporter() }.intoMany(key: "pdf")
        }
        let exporters = try await container.resolveMap((any Exporter).self, keyedBy: String.self)
        #expect(exporters.keys.sorted() == ["csv", "pdf"])
    }

    @Test func `parameters have sources`() async throws {
        let container = Container {
            Registration(Tenant.self, instance: Tenant(name: "acme"))
            Registration(Database.self, lifetime: .multiton) { (_, tenant: Tenant) in Database(tenant) }
            Registration(Log.self) { _ in Log() }
            Registration(URL.self, qualifier: Env.prod, instance: prodURL)
            Registration(using: Client.init(url:log:), with: .qualified(Env.prod), .resolved)
            Registration(using: Work.init, with: .leased(by: Tenant.self), .resolved, lifetime: .scoped)
        }
        try await container.withScope("request") { scope in
            let client = try await scope.resolve(Client.self)
            #expect(client.url == prodURL)
            let work = try await scope.resolve(Work.self)
            #expect(work.database.tenant.name == "acme")
        }
    }

    @Test func `an argument is computed from another service`() async throws {
        let container = Container {
            Registration(Request.self, instance: Request(customer: Customer(id: 7), tenant: Tenant(name: "acme")))
            Registration(Account.self, lifetime: .multiton) { (_, customer: Customer) in Account(customer) }
            Registration(using: Basket.init, with: .resolved(by: { (request: Request) in request.customer }))
        }
        #expect(try await container.resolve(Basket.self).account.customer.id == 7)
    }

    @Test func `two services refer to each other`() async throws {
        let container = Container {
            Registration(Parent.self, lifetime: .singleton) { r in try await Parent(child: r.resolve()) }
            Registration(Child.self, lifetime: .singleton) { _ in Child() }
                .injectProperties { r, child in await child.set(try await r.resolve()) }
        }
        let parent = try await container.resolve(Parent.self)
        #expect(await parent.child.parent === parent)
    }

    @Test func `initializers are registered`() async throws {
        let container = Container {
            Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
            Registration(using: Owner.init(pet:city:))
            Registration(HTTPClient.self, lifetime: .singleton) { _ in HTTPClient() }
                .onDispose { client in try await client.shutdown() }
            Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
            Registration(Pet.self) { _ in Pet() }
            Registration(City.self) { _ in City() }
        }
        _ = try await container.resolve(Owner.self)
    }

    @Test func `an initializer takes an argument`() async throws {
        let container = Container {
            Registration(using: Document.init(title:store:), taking: String.self, lifetime: .multiton)
            Registration(Store.self) { _ in Store() }
        }
        let document = try await container.resolve(Document.self, arguments: "Letter")
        #expect(document.title == "Letter")
        try await container.register {
            Registration(using: Document.init(title:store:), with: .argument, .resolved, lifetime: .multiton)
        }
        #expect(try await container.resolve(Document.self, arguments: "Note").title == "Note")
    }

    @Test func `an initializer takes several arguments`() async throws {
        let container = Container {
            Registration(
                using: Document.init(store:title:page:), with: .resolved, .argument, .argument, lifetime: .multiton)
            Registration(Store.self) { _ in Store() }
        }
        let document = try await container.resolve(Document.self, arguments: "Letter", 1)
        #expect(document.title == "Letter 1")
    }

    @Test func `an initializer with sources is registered later`() async throws {
        let container = Container {
            Registration(Log.self) { _ in Log() }
            Registration(URL.self, qualifier: Env.prod, instance: prodURL)
        }
        try await container.register(using: Client.init(url:log:), with: .qualified(Env.prod), .resolved)
        #expect(try await container.resolve(Client.self).url == prodURL)
    }

    @Test func `arguments are compared by a computed key`() async throws {
        let container = Container {
            Registration(Tile.self, keyedBy: { (point: Point, _: Style) in point.rounded }) { _, point, style in
                try await Tile(point, style)
            }
        }
        _ = try await container.resolve(Tile.self, arguments: Point(x: 1.2), Style())
    }

    @Test func `a scope supplies an expected value`() async throws {
        let container = Container {
            Registration(expected: Request.self)
        }
        let request = Request(customer: Customer(id: 1), tenant: Tenant(name: "acme"))
        func next() async throws { #expect(try await container.resolve(Request.self).customer.id == 1) }
        try await container.withScope {
            Registration(instance: request)
        } operation: { _ in
            try await next()
        }
    }
}

// MARK: Services

private let prodURL = URL(filePath: "/prod")
private let backupURL = URL(filePath: "/backup")

extension RegistrationExamples {
    enum Env: Qualifier { case prod, test }

    actor UnitOfWork {
        private(set) var isCommitted = false
        func commit() async throws { isCommitted = true }
        func rollBack() {}
    }

    final class Cart: Sendable {}
    struct Button: Sendable { init(_ onTap: @escaping @Sendable () -> Void) {} }

    protocol UserRepository: Sendable {}
    struct SQLUserRepository: UserRepository {}
    struct Cache: Sendable {}
    struct CachingRepository: UserRepository {
        init(_ inner: any UserRepository, cache: Cache) {}
    }

    struct Settings: DefaultInitializable {}

    actor HTTPClient {
        func shutdown() async throws {}
    }
    struct CacheModule: Module {
        var registrations: Registrations { Registration(Cache.self) { _ in Cache() } }
    }
    struct NetworkModule: Module {
        var registrations: Registrations {
            Registration(HTTPClient.self, lifetime: .singleton) { _ in HTTPClient() }
            CacheModule()
        }
    }

    protocol Exporter: Sendable {}
    struct CSVExporter: Exporter {}
    struct PDFExporter: Exporter {}

    struct Tenant: Hashable, Sendable { let name: String }
    struct Customer: Hashable, Sendable { let id: Int }
    struct Request: Sendable {
        let customer: Customer
        let tenant: Tenant
    }
    final class Database: Sendable {
        let tenant: Tenant
        init(_ tenant: Tenant) { self.tenant = tenant }
    }
    struct Log: Sendable {}
    struct Client: Sendable {
        let url: URL
        let log: Log
    }
    struct Work: Sendable {
        let database: Database
        let log: Log
    }
    struct Account: Sendable {
        let customer: Customer
        init(_ customer: Customer) { self.customer = customer }
    }
    struct Basket: Sendable { let account: Account }

    actor Child {
        private(set) weak var parent: Parent?
        func set(_ parent: Parent) { self.parent = parent }
    }
    final class Parent: Sendable {
        let child: Child
        init(child: Child) { self.child = child }
    }

    struct Pet: Sendable {}
    struct City: Sendable {}
    struct Owner: Sendable {
        let pet: Pet
        let city: City
    }

    struct Store: Sendable {}
    struct Document: Sendable {
        let title: String
        let store: Store

        init(title: String, store: Store) {
            self.title = title
            self.store = store
        }

        init(store: Store, title: String, page: Int) {
            self.init(title: "\(title) \(page)", store: store)
        }
    }

    struct Point: Hashable, Sendable {
        let x: Double
        var rounded: Point { Point(x: x.rounded()) }
    }
    struct Style: Hashable, Sendable {}
    struct Tile: Sendable { init(_ point: Point, _ style: Style) async throws {} }
}
