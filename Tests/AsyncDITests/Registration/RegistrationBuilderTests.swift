import Testing

@testable import AsyncDI

/// Not `Sendable`, and changed by its holder.
private final class Draft {
    var text: String
    init(text: String) { self.text = text }
}

@MainActor private final class Screen {
    let number: Int
    init(number: Int) { self.number = number }
}

/// The contents of a builder closure.
@Suite(.timeLimit(.minutes(10))) struct RegistrationBuilderTests {
    private struct NumberModule: Module {
        var qualifier = "module"
        var registrations: Registrations {
            Registration(Int.self, qualifier: qualifier) { _ in 1 }
        }
    }
    private struct OuterModule: Module {
        let isLarge: Bool
        var registrations: Registrations {
            Registration(Int.self, qualifier: "outer") { r in try await r.resolve(Int.self, qualifier: "inner") + 1 }
            NumberModule(qualifier: "inner")
            if isLarge { NumberModule(qualifier: "large") }
        }
    }

    @Test func `a builder takes nothing at all`() async throws {
        let container = Container {}
        #expect(try await container.optional(Int.self) == nil)
        try await container.register {}
    }

    @Test(arguments: [true, false])
    func `a builder takes conditions`(flag: Bool) async throws {
        let number: Int? = flag ? 3 : nil
        let container = Container {
            if flag { Registration(Int.self) { _ in 1 } }
            if flag { Registration(String.self) { _ in "yes" } } else { Registration(String.self) { _ in "no" } }
            if let number { Registration(Double.self) { _ in Double(number) } }
            switch flag {
            case true: Registration(Bool.self) { _ in true }
            case false:
                Registration(Bool.self) { _ in false }
                Registration(UInt.self) { _ in 1 }
            }
            if #available(macOS 10, *) { Registration(Thing.self) { _ in Thing() } }
        }
        #expect(try await container.optional(Int.self) == (flag ? 1 : nil))
        #expect(try await container.resolve(String.self) == (flag ? "yes" : "no"))
        #expect(try await container.optional(Double.self) == (flag ? 3 : nil))
        #expect(try await container.resolve(Bool.self) == flag)
        #expect(try await container.optional(UInt.self) == (flag ? nil : 1))
        #expect(await container.isRegistered(Thing.self))
    }

    @Test func `a builder takes loops, local values and functions`() async throws {
        func number(_ value: Int) -> Registration<Int> {
            Registration(Int.self, qualifier: "\(value)") { _ in value }
        }
        let container = Container {
            let last = 3
            for value in 1...last { number(value) }
            for value in 4...5 where value == 5 {
                number(value)
                number(-value)
            }
        }
        for value in [1, 2, 3, 5, -5] { #expect(try await container.resolve(Int.self, qualifier: "\(value)") == value) }
        #expect(await !container.isRegistered(Int.self, qualifier: "4"))
    }

    @Test func `a builder takes modules, arrays of modules and collected registrations`() async throws {
        let modules: [any Module] = [NumberModule(qualifier: "a"), OuterModule(isLarge: false)]
        let module: any Module = NumberModule(qualifier: "any")
        let collected = Registrations { Registration(String.self) { _ in "collected" } }
        let container = Container {
            NumberModule()
            modules
            module
            [NumberModule(qualifier: "literal")]
            collected
        }
        for qualifier in ["module", "a", "inner", "any", "literal"] {
            #expect(try await container.resolve(Int.self, qualifier: qualifier) == 1)
        }
        #expect(try await container.resolve(String.self) == "collected")
    }

    @Test func `modules nest, in any order`() async throws {
        let container = Container { OuterModule(isLarge: true) }
        #expect(try await container.resolve(Int.self, qualifier: "outer") == 2)
        #expect(try await container.resolve(Int.self, qualifier: "large") == 1)
    }

    @Test func `modules are registered later, one or many`() async throws {
        let container = Container()
        try await container.register(OuterModule(isLarge: false))
        try await container.register {
            NumberModule(qualifier: "late")
            [NumberModule(qualifier: "later")]
        }
        #expect(try await container.resolve(Int.self, qualifier: "outer") == 2)
        #expect(try await container.resolve(Int.self, qualifier: "late") == 1)
        #expect(try await container.resolve(Int.self, qualifier: "later") == 1)
    }

    @Test func `a builder captures any value, also a non-Sendable one`() async throws {
        let draft = Draft(text: "captured")
        let container = Container { Registration(instance: draft.text) }
        draft.text = "changed"
        #expect(try await container.resolve(String.self) == "captured")
        try await container.register { Registration(String.self, instance: draft.text) }
        #expect(try await container.resolve(String.self) == "changed")
    }

    @Test @MainActor func `a builder runs on the main actor when its caller does`() async throws {
        let screen = Screen(number: 5)
        let container = Container { Registration(instance: screen.number) }
        #expect(try await container.resolve(Int.self) == 5)
    }
}
