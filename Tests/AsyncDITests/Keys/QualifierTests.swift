import Testing

@testable import AsyncDI

private enum Env: Qualifier { case prod, test }
private enum Region: Qualifier { case prod, test }
private struct Shard: Qualifier { let number: Int }
private struct Wrapped<Value: Hashable & Sendable>: Qualifier { let value: Value }

/// Every value has the same hash.
private struct Clash: Qualifier {
    let number: Int
    func hash(into hasher: inout Hasher) {}
}

/// Typed names.
@Suite(.timeLimit(.minutes(10))) struct QualifierTests {
    private static let different: [(any Qualifier)?] = [
        nil, Env.prod, Env.test, Region.prod, Region.test, Shard(number: 1), Shard(number: 2), "prod", "test", "",
        "nil",
        Clash(number: 1), Clash(number: 2), Wrapped(value: 1), Wrapped(value: "1"), Wrapped(value: Int?.some(1)),
        Wrapped(value: Int?.none), Wrapped(value: String?.none),
    ]

    @Test func `qualifiers are equal when type and value are`() {
        for (index, first) in Self.different.enumerated() {
            for (other, second) in Self.different.enumerated() {
                #expect(areEqual(first, second) == (index == other), "\(String(describing: first))")
            }
        }
        #expect(areEqual(Shard(number: 3), Shard(number: 3)))
        #expect(areEqual(Clash(number: 3), Clash(number: 3)))
    }

    @Test func `a named qualifier is its string`() {
        #expect(areEqual("main", .named("main")))
        #expect(areEqual("é", "e\u{301}"), "strings are compared as strings are")
        #expect(!areEqual("main", "Main"))
    }

    @Test func `a qualifier of another type differs from a string with the same text`() {
        struct Part: Qualifier { let text: Substring }
        #expect(!areEqual(Part(text: "main"), "main"))
    }
}
