import Testing

@testable import AsyncDI

private enum Locals {
    @TaskLocal static var object: Thing?
}

/// Binding task-locals in place.
@Suite(.timeLimit(.minutes(10))) struct TaskLocalTests {
    @MainActor
    @Test func `a binding stays on the caller's executor, binds and unbinds`() async throws {
        let thing = Thing(4)
        let number = try await Locals.$object.bind(thing) {
            MainActor.assertIsolated()
            #expect(Locals.object === thing)
            return thing.number
        }
        #expect(number == 4)
        #expect(Locals.object == nil)
        MainActor.assertIsolated()
    }

    @Test func `a binding ends when its body throws`() async {
        await #expect(throws: TestError(1)) { try await Locals.$object.bind(Thing()) { throw TestError(1) } }
        #expect(Locals.object == nil)
    }
}
