@testable import AsyncDI

extension WaitForGraph {
    /// The invariants between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        var edges = 0
        for (from, targets) in waits {
            precondition(!targets.isEmpty, "no empty lists")
            for (to, waiters) in targets {
                precondition(!waiters.isEmpty, "no empty lists")
                precondition(waitedBy[to]?.contains(from) == true, "both directions agree")
                for waiter in waiters.keys {
                    precondition(places[waiter]?.from == from && places[waiter]?.to == to, "a waiter knows its place")
                    edges += 1
                }
            }
        }
        precondition(edges == places.count, "every waiter waits somewhere")
        for (to, askers) in waitedBy {
            precondition(!askers.isEmpty, "no empty lists")
            for asker in askers { precondition(waits[asker]?[to] != nil, "both directions agree") }
        }
        precondition(Set(held.values).count == held.count, "a held creation has a number of its own")
        for (holder, instances) in early {
            precondition(!instances.isEmpty, "no empty lists")
            for instance in instances {
                precondition(givenTo[instance]?.contains(holder) == true, "both directions agree")
            }
        }
        for (instance, holders) in givenTo {
            precondition(!holders.isEmpty, "no empty lists")
            for holder in holders { precondition(early[holder]?.contains(instance) == true, "both directions agree") }
        }
        for node in held.keys {
            precondition(waits[node] == nil && contents[node] == nil, "a held creation asks for nothing")
        }
        for (inner, outer) in enclosing { precondition(contents[outer]?[inner] != nil, "both directions agree") }
        precondition(contents.values.allSatisfy { !$0.isEmpty }, "no empty lists")
        precondition(held.keys.allSatisfy(made.contains), "a held creation has its instance")
        for node in held.keys { precondition(early[node] != nil, "a held creation waits for an early instance") }
        var copy = self
        for (node, targets) in waits {
            for target in targets.keys {
                precondition(copy.path(from: target, to: node) == nil, "no wait closes a cycle")
            }
        }
        // Without a disposal, that is all.
        guard places.values.contains(where: { kind($0.from) == .disposal || kind($0.to) == .disposal }) else { return }
        for place in places.values {
            precondition(copy.lockedPath(from: place.to, to: place.from) == nil, "no cycle is closed for good")
        }
        for (holder, instances) in early {
            for instance in instances {
                precondition(copy.lockedPath(from: instance, to: holder) == nil, "no end depends on itself")
            }
        }
    }
}
