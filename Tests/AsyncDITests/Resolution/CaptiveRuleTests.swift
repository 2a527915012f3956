import Testing

@testable import AsyncDI

/// A place that knows its parent.
private final class Place {
    let parent: Place?
    init(_ parent: Place? = nil) { self.parent = parent }
}

/// Pairs of holders and instances that are forbidden.
@Suite(.timeLimit(.minutes(10))) struct CaptiveRuleTests {
    private let rule = CaptiveRule<Place>(parent: \.parent)
    private let root: Place
    private let scope: Place
    private let inner: Place
    private let sibling: Place

    init() {
        root = Place()
        scope = Place(root)
        inner = Place(scope)
        sibling = Place(root)
    }

    @Test(arguments: [true, false], [true, false])
    func `an instance of a scope below the holder's container ends before it`(outlivingScopes: Bool, isScoped: Bool) {
        for (holder, instance) in [(root, scope), (root, inner), (scope, inner), (root, sibling)] {
            #expect(
                rule.forbids(
                    holderIn: holder, outlivingScopes: outlivingScopes, instanceIn: instance, isScoped: isScoped,
                    isResettable: false))
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `an instance of a container above or beside the holder's may be held`(outlivingScopes: Bool, isScoped: Bool) {
        for (holder, instance) in [(scope, root), (inner, root), (inner, scope), (scope, sibling), (inner, sibling)] {
            #expect(
                !rule.forbids(
                    holderIn: holder, outlivingScopes: outlivingScopes, instanceIn: instance, isScoped: isScoped,
                    isResettable: false))
        }
    }

    @Test func `a scoped service of the root must not be held by an instance that outlives scopes`() {
        #expect(
            rule.forbids(holderIn: root, outlivingScopes: true, instanceIn: root, isScoped: true, isResettable: false))
        #expect(
            !rule.forbids(holderIn: root, outlivingScopes: true, instanceIn: root, isScoped: false, isResettable: false)
        )
        #expect(
            !rule.forbids(holderIn: root, outlivingScopes: false, instanceIn: root, isScoped: true, isResettable: false)
        )
    }

    @Test func `an instance of a scope may hold the scope's own instances`() {
        for place in [scope, inner] {
            #expect(
                !rule.forbids(
                    holderIn: place, outlivingScopes: true, instanceIn: place, isScoped: true, isResettable: false))
            #expect(
                !rule.forbids(
                    holderIn: place, outlivingScopes: true, instanceIn: place, isScoped: false, isResettable: false))
        }
    }

    @Test func `a resettable instance must not be held by an instance that outlives scopes, in any container`() {
        for (holder, instance) in [(root, root), (scope, scope), (inner, root), (scope, sibling)] {
            for isScoped in [true, false] {
                #expect(
                    rule.forbids(
                        holderIn: holder, outlivingScopes: true, instanceIn: instance, isScoped: isScoped,
                        isResettable: true))
                #expect(
                    !rule.forbids(
                        holderIn: holder, outlivingScopes: false, instanceIn: instance, isScoped: isScoped,
                        isResettable: true))
            }
        }
    }

    @Test func `random trees agree with a list of ancestors`() throws {
        for seed in 0..<1_000 {
            var random = SeededRandom(seed: UInt64(seed))
            var places = [Place()]
            var ancestors: [[Int]] = [[]]
            for _ in 0..<random.below(12) {
                let parent = random.chance(0.9) ? random.below(places.count) : nil
                places.append(Place(parent.map { places[$0] }))
                ancestors.append(parent.map { ancestors[$0] + [$0] } ?? [])
            }
            for holder in places.indices {
                for instance in places.indices {
                    let (outlives, isScoped) = (random.chance(0.5), random.chance(0.5))
                    let isResettable = random.chance(0.3)
                    let endsBefore =
                        holder == instance
                        ? ancestors[instance].isEmpty && outlives && isScoped : ancestors[instance].contains(holder)
                    let expected = endsBefore || outlives && isResettable
                    let answer = rule.forbids(
                        holderIn: places[holder], outlivingScopes: outlives, instanceIn: places[instance],
                        isScoped: isScoped, isResettable: isResettable)
                    try #require(answer == expected, "seed \(seed): \(instance) held in \(holder)")
                }
            }
        }
    }
}
