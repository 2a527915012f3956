import Testing

@testable import AsyncDI

/// Data of the application in messages: one line, of a bounded length.
@Suite(.timeLimit(.minutes(10))) struct SingleLineTests {
    @Test(arguments: [
        ("acme", "acme"), ("Zoë 👩‍👩‍👧", "Zoë 👩‍👩‍👧"), ("", ""), ("a\"b\\c", "a\"b\\c"),
        ("acme\nINFO login ok", "acme\\nINFO login ok"), ("a\u{1B}[2J", "a\\u{1B}[2J"), ("a\u{7F}", "a\\u{7F}"),
        ("a\u{85}b\u{2028}c\u{2029}d", "a\\u{0085}b\\u{2028}c\\u{2029}d"),
        ("a\u{202E}b\u{FEFF}", "a\\u{202E}b\\u{FEFF}"),
    ])
    func `characters that forge lines are escaped`(text: String, line: String) {
        #expect(singleLine(text) == line)
    }

    @Test func `a long text is cut, and says how long it is`() {
        let exact = String(repeating: "a", count: 200)
        #expect(singleLine(exact) == exact)
        #expect(singleLine(exact + "b") == exact + "… (201 bytes)")
        #expect(singleLine(String(repeating: "ä", count: 200)) == String(repeating: "ä", count: 200))
        #expect(singleLine(reflecting: String(repeating: "ä", count: 200)).hasSuffix("\""))
        let huge = String(repeating: "a", count: 10_000_000)
        #expect(singleLine(huge).utf8.count < 300)
        #expect(singleLine(reflecting: huge) == "\"\(exact)\"… (10000000 bytes)")
    }

    @Test func `the advice of an error shows a qualifier in one line of a bounded length`() async {
        let container = Container()
        for qualifier in ["a\u{2028}b\u{85}c\u{9B}d\u{202E}e", String(repeating: "a", count: 1_000_000)] {
            let error = await #expect(throws: ResolutionError.self) {
                _ = try await container.resolve(Thing.self, qualifier: qualifier)
            }
            let advice = error?.advice ?? ""
            #expect(advice.contains("qualifier: \"a") && advice.utf8.count < 500)
            #expect(escaped(advice) == advice)
        }
    }

    @Test func `values are reflected`() {
        #expect(singleLine(reflecting: "a\nb") == "\"a\\nb\"")
        #expect(singleLine(reflecting: 1) == "1")
        struct Odd: CustomDebugStringConvertible { var debugDescription: String { "two\nlines" } }
        #expect(singleLine(reflecting: Odd()) == "two\\nlines")
    }

    @Test func `no message about a hostile name has two lines`() async throws {
        struct Hostile: Hashable, Sendable, CustomStringConvertible, Qualifier {
            var description: String { "evil\nINFO forged\u{1B}[2J" }
        }
        let name = "acme\nINFO forged\u{1B}[2J"
        func check(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(text.contains("INFO forged"), sourceLocation: sourceLocation)
            #expect(!text.contains("\nINFO") && !text.contains("\u{1B}"), sourceLocation: sourceLocation)
        }
        let gate = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, _: String) in Thing() }
                .healthCheck { _ in throw TestError() }.onDispose { _ in await gate.pass() }
            Registration(Int.self, qualifier: Hostile()) { _ in 1 }
        }
        _ = try await container.resolve(Thing.self, arguments: name)
        check(await container.health(timeout: .seconds(60)).description)
        let scope = try await container.openScope(name)
        check(container.activity().description)
        check(container.debugDescription)
        check("\(ContainerEvent.scopeOpened(name))")
        do { _ = try await scope.resolve(Int.self) } catch { check("\(error)") }
        do { _ = try await container.resolve(Int.self) } catch { check("\(error)") }
        do { _ = try await container.resolve(Thing.self, qualifier: name) } catch { check("\(error)") }
        try await scope.dispose()
        do { try await container.dispose(deadline: .zero) } catch { check("\(error)") }
        check(container.activity().description)
        gate.open()
        try await container.dispose()

        struct Forging: Error, CustomStringConvertible { var description: String { "acme\nINFO forged\u{1B}[2J" } }
        let failing = Container {
            Registration(Int.self, lifetime: .singleton) { _ in 1 }.onDispose { _ in throw Forging() }
            Registration(String.self, lifetime: .singleton) { _ in throw Forging() }.eager()
        }
        _ = try await failing.resolve(Int.self)
        await #expect(throws: Forging.self) { try await failing.start() }
        check(try #require(failing.startFailure).description)
        check("\(ContainerEvent.failed(ServiceKey(Int.self), Forging()))")
        do { try await failing.dispose() } catch { check("\(error)") }
    }
}
