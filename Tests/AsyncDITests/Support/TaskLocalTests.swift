import Testing

@testable import AsyncDI

private enum Locals {
    @TaskLocal static var object: Thing?
    static let peek = TaskLocalPeek($object)
}

/// Looking at task-locals without reading them, and binding them in place.
@Suite(.timeLimit(.minutes(10))) struct TaskLocalTests {
    private func agrees() -> Bool { Locals.peek.isNil == (Locals.object == nil) }

    @Test func `a peek agrees with the value, bound, shadowed and unbound`() async {
        #expect(Locals.peek.isNil)
        Locals.$object.withValue(Thing()) {
            #expect(!Locals.peek.isNil && agrees())
            Locals.$object.withValue(nil) {
                #expect(Locals.peek.isNil && agrees())
                Locals.$object.withValue(Thing(2)) { #expect(!Locals.peek.isNil && agrees()) }
                #expect(Locals.peek.isNil)
            }
            #expect(!Locals.peek.isNil)
        }
        #expect(Locals.peek.isNil && agrees())
    }

    @Test func `a peek sees what a task has inherited, and nothing in a detached one`() async {
        await Locals.$object.withValue(Thing()) {
            async let child = Locals.peek.isNil
            #expect(await !child)
            #expect(await !Task { Locals.peek.isNil }.value)
            #expect(await Task.detached { Locals.peek.isNil }.value)
        }
    }

    @Test func `other task-locals do not matter`() async {
        enum Others {
            @TaskLocal static var number = 7
            @TaskLocal static var object: Thing?
        }
        Others.$number.withValue(1) {
            Others.$object.withValue(Thing()) {
                #expect(Locals.peek.isNil)
                Locals.$object.withValue(Thing()) {
                    Others.$object.withValue(nil) { #expect(!Locals.peek.isNil) }
                }
            }
        }
    }

    @Test func `a peek retains nothing`() async {
        weak var seen: Thing?
        Locals.$object.withValue(Thing()) {
            seen = Locals.object
            for _ in 0..<100 { #expect(!Locals.peek.isNil) }
        }
        #expect(seen == nil)
    }

    // MARK: Binding

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
