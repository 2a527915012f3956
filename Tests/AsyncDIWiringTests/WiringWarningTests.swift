import AsyncDI
import Testing

@testable import AsyncDIWiring

/// The warnings of a wiring check.
@MainActor @Suite(.timeLimit(.minutes(10))) struct WiringWarningTests {
    @Test func `warnings are given when they are asked for, and the status stays 0`() async {
        let containers: @MainActor () -> [CheckedContainer] = {
            let app = Container(name: "app") {
                Registration(using: Page.init, fileID: "App/A.swift", line: 1)
                Registration(Font.self, lifetime: .singleton, fileID: "App/A.swift", line: 2) { _ in Font() }
                    .dependencies()
                Registration(Ink.self, fileID: "App/A.swift", line: 3) { _ in Ink() }
            }
            return [CheckedContainer(app, resolving: Page.self)]
        }
        let all = await run("--warn", "all", containers: containers)
        #expect(
            all
                == WiringOutcome(
                    errors: """
                        App/A.swift:3: warning: Ink is made by a closure that does not declare what it resolves, which \
                        therefore is not checked. Declare it: .dependencies(A.self, B.self), or .dependencies() if it \
                        resolves nothing.
                        App/A.swift:3: warning: Ink is registered, but none of the services that the application \
                        resolves needs it.
                        App/A.swift:2: warning: Font is singleton and lives longer than everything that uses it.

                        """))
        #expect(await run(warnings: .all, containers: containers) == all)
        let opaque = await run("--warn", "opaque", containers: containers)
        #expect(opaque.errors.split(separator: "\n").count == 1 && opaque.errors.contains("closure"))
        #expect(await run(containers: containers) == WiringOutcome())
    }

    @Test func `a service that a closure may use is not called unused`() async {
        let app = Container(name: "app") {
            Registration(Page.self, fileID: "App/A.swift", line: 1) { r in try await Page(font: r.resolve()) }
            Registration(instance: Font())
        }
        let outcome = await run("--warn", "unused") { [CheckedContainer(app, resolving: Page.self)] }
        #expect(
            outcome.errors == """
                App/A.swift:1: warning: Whether these are used cannot be told, because some registrations may resolve \
                more than they declare: Font.
                App/A.swift:1: note: Page may resolve more than it declares

                """)
    }

    @Test func `a wrapper stands for its services, and one unknown service stops no warning about others`() async {
        let app = Container(name: "app") {
            Registration(using: { "" }, fileID: "App/A.swift", line: 1).intoMany(key: "a")
            Registration(instance: Font())
            Registration(using: { 0.5 }, fileID: "App/A.swift", line: 2)
            Registration(using: { Ink() }, fileID: "App/A.swift", line: 3)
        }
        let warning = { (line: Int, name: String) in
            "App/A.swift:\(line): warning: \(name) is registered, but none of the services that the application "
                + "resolves needs it.\n"
        }
        let wrapped = await run("--warn", "unused") {
            [
                CheckedContainer(
                    app, resolving: [String: String].self, Font?.self, Lazy<Double>.self, Page?.self, Resolver.self)
            ]
        }
        #expect(wrapped == WiringOutcome(errors: warning(3, "Ink")))
        let misspelled = await run("--warn", "unused") {
            [CheckedContainer(app, resolving: [String].self, Page.self).scope("job", resolving: Ink?.self, Font.self)]
        }
        #expect(misspelled.status == 1 && misspelled.errors.contains("error: Page is not registered"))
        #expect(misspelled.errors.hasSuffix(warning(2, "Double")))
        // Without any known service, everything would seem to be unused.
        let unknown = await run("--warn", "unused") { [CheckedContainer(app, resolving: Page.self)] }
        #expect(!unknown.errors.contains("warning"))
    }

    @Test func `a provider of a service that needs a scope's value is no mistake of the application`() async {
        let app = Container(name: "app") {
            Registration(expected: Request.self)
            Registration(using: Handler.init)
            Registration(using: { (handler: Provider<Handler>) in [handler] }, lifetime: .singleton)
        }
        let outcome = await run { [CheckedContainer(app, resolving: [Provider<Handler>].self)] }
        #expect(outcome == WiringOutcome())
    }

    private struct User: Sendable {
        let store: Ink
    }
    private struct Screen: Sendable {
        let user: User
    }

    @Test func `a service that a scope's own factory needs is used`() async {
        let outcome = await run(warnings: .unused) {
            let app = Container(name: "app") {
                Registration(using: Ink.init, lifetime: .singleton)
                Registration(expected: User.self)
                Registration(using: Screen.init, lifetime: .scoped)
            }
            return [
                CheckedContainer(app).scope("request", resolving: Screen.self) {
                    Registration(using: User.init(store:), lifetime: .scoped)
                }
            ]
        }
        #expect(outcome.status == 0 && outcome.output == "" && outcome.errors == "")
    }

    private struct Host: Sendable {
        let plugs: [Plug]?
        let extra: Extra?
    }
    private struct Plug: Sendable {
        let ink: Ink
    }
    private struct Extra: Sendable {
        let font: Font
    }

    @Test func `a service that only a scope's own registrations for optional dependencies need is used`() async {
        let outcome = await run(warnings: .unused) {
            let app = Container(name: "app") {
                Registration(using: Ink.init, lifetime: .singleton)
                Registration(using: Font.init, lifetime: .singleton)
                Registration(using: Host.init(plugs:extra:))
            }
            return [
                CheckedContainer(app).scope("request", resolving: Host.self) {
                    Registration(using: Plug.init(ink:)).intoMany()
                    Registration(using: Extra.init(font:))
                }
            ]
        }
        #expect(outcome.status == 0 && outcome.output == "" && outcome.errors == "")
    }

    @Test
    func `a service that closures may use, that is eager, or that is resolved itself, outlives no user for certain`()
        async
    {
        func outcome(_ more: @escaping @Sendable () -> Registrations, eager: Bool = false, resolved: Bool = false)
            async -> WiringOutcome
        {
            await run(warnings: .outlivingUsers) {
                let font = Registration(using: Font.init, lifetime: .singleton)
                let app = Container(name: "app") {
                    if eager { font.eager() } else { font }
                    Registration(using: Page.init, lifetime: .scoped)
                    more()
                }
                return [resolved ? CheckedContainer(app, resolving: Font.self) : CheckedContainer(app)]
            }
        }
        let certain = await outcome({ Registrations() })
        #expect(certain.errors.contains("Font is singleton and lives longer than everything that uses it"))
        for quiet in [
            await outcome({ Registrations() }, eager: true), await outcome({ Registrations() }, resolved: true),
        ] {
            #expect(!quiet.errors.contains("Font"))
        }
        // A closure of a scope cannot hold it longer than a scope.
        let short = await outcome { Registrations { Registration(Ink.self, lifetime: .scoped) { _ in Ink() } } }
        #expect(short.errors.contains("Font is singleton and lives longer than everything that uses it"))
        let open = await outcome { Registrations { Registration(Ink.self, lifetime: .singleton) { _ in Ink() } } }
        #expect(open.errors.contains("Whether these live longer than everything that uses them cannot be told"))
        #expect(open.errors.contains("Ink may resolve more than it declares"))
    }
}
