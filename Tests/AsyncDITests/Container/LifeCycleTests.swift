import Testing

@testable import AsyncDI

/// A container's life: what its end waits for, and which waits each event ends.
@Suite(.timeLimit(.minutes(10))) struct LifeCycleTests {
    private typealias Life = LifeCycle<String>

    @Test func `a container is open, then in disposal, then disposed`() {
        var life = Life()
        #expect(life.isOpen)
        life.beginDisposal()
        #expect(!life.isOpen)
        #expect(life.phase == .disposing)
        #expect(life.end().isEmpty)
        #expect(life.phase == .disposed)
        #expect(!life.isOver)
        life.finish()
        #expect(life.isOver)
    }

    @Test func `the last body ends the waits for bodies, and no others`() {
        var life = Life()
        life.beginBody()
        life.beginBody()
        life.add("drain", for: .bodies)
        life.add("disposal", for: .leases)
        life.add("other drain", for: .bodies)
        #expect(life.endBody().isEmpty)
        #expect(life.bodies == 1)
        #expect(life.endBody() == ["drain", "other drain"])
        #expect(life.over(.leases) == ["disposal"])
    }

    @Test func `the last removal ends the waits for removals`() {
        var life = Life()
        life.beginRemovals(2)
        life.beginRemovals()
        life.add("disposal", for: .removals)
        #expect(life.endRemoval().isEmpty)
        #expect(life.endRemoval().isEmpty)
        #expect(life.endRemoval() == ["disposal"])
        #expect(life.removals == 0)
    }

    @Test func `each wait ends once`() {
        var life = Life()
        life.add("drain", for: .creations)
        #expect(life.over(.creations) == ["drain"])
        #expect(life.over(.creations).isEmpty)
        life.beginBody()
        #expect(life.endBody().isEmpty)
    }

    @Test func `the end of a container ends the waits of drains, but not those for removals`() {
        var life = Life()
        life.beginBody()
        life.beginRemovals()
        life.add("drain", for: .bodies)
        life.add("disposal", for: .removals)
        life.add("other drain", for: .creations)
        #expect(life.end() == ["drain", "other drain"])
        #expect(life.endBody().isEmpty)
        #expect(life.endRemoval() == ["disposal"])
    }

    @Test func `work that ends without waits is only counted`() {
        var life = Life()
        for _ in 0..<3 { life.beginBody() }
        for _ in 0..<3 { #expect(life.endBody().isEmpty) }
        #expect(life.bodies == 0)
    }
}
