import AsyncDI

/// Services created by `using:`, beside the same created by a closure.
func registerInitializers() {
    compareContainers("using-none", operations: 5_000, asking: Leaf1.self) {
        Registration(using: Leaf1.init, lifetime: .transient)
    } closures: {
        Registration(Leaf1.self, lifetime: .transient) { _ in Leaf1() }
    }
    compareContainers("using-ready", operations: 2_000, asking: Handler.self) {
        readyLeaves()
        Registration(using: Handler.init, lifetime: .transient)
    } closures: {
        readyLeaves()
        Registration(Handler.self, lifetime: .transient) { r in
            try await Handler(first: r.resolve(), second: r.resolve(), third: r.resolve())
        }
    }
    compareContainers("using-tree", operations: 500, asking: Tree.self) {
        Registration(using: Leaf1.init, lifetime: .transient)
        Registration(using: Leaf2.init, lifetime: .transient)
        Registration(using: Leaf3.init, lifetime: .transient)
        Registration(using: Leaf4.init, lifetime: .transient)
        Registration(using: Branch1.init, lifetime: .transient)
        Registration(using: Branch2.init, lifetime: .transient)
        Registration(using: Tree.init, lifetime: .transient)
    } closures: {
        treeOfClosures()
    }
    compareContainers("using-diamond", operations: 500, asking: Diamond.self) {
        Registration(using: Bottom.init, lifetime: .graph)
        Registration(using: Left.init, lifetime: .graph)
        Registration(using: Right.init, lifetime: .graph)
        Registration(using: Diamond.init, lifetime: .graph)
    } closures: {
        diamondOfClosures()
    }
}

private func compareContainers<Asked: AnyObject & Sendable>(
    _ name: String, operations: Int, asking service: Asked.Type,
    @RegistrationBuilder _ initializers: @escaping () -> Registrations,
    @RegistrationBuilder closures: @escaping () -> Registrations
) {
    compare(name, operations: operations) {
        let (ours, theirs) = (Container(registrations: initializers()), Container(registrations: closures()))
        return .each {
            for _ in 0..<$0 { keep(try await ours.resolve(service)) }
        } baseline: {
            for _ in 0..<$0 { keep(try await theirs.resolve(service)) }
        }
    }
}

@RegistrationBuilder
private func readyLeaves() -> Registrations {
    Registration(Leaf1.self, instance: Leaf1())
    Registration(Leaf2.self, instance: Leaf2())
    Registration(Leaf3.self, instance: Leaf3())
}
