import AsyncDI

/// Services that need others.
func registerGraphs() {
    compare("tree", operations: 1_000) {
        let factories = treeFactories()
        let container = Container { treeOfClosures() }
        return .each {
            for _ in 0..<$0 { keep(try await container.resolve(Tree.self)) }
        } baseline: {
            for _ in 0..<$0 { keep(try await factories.resolve(Tree.self)) }
        }
    }
    compare("diamond", operations: 1_000) {
        let factories = diamondFactories()
        let container = Container { diamondOfClosures() }
        return .each {
            for _ in 0..<$0 { keep(try await container.resolve(Diamond.self)) }
        } baseline: {
            for _ in 0..<$0 { keep(try await factories.resolve(Diamond.self, in: Factories.Graph())) }
        }
    }
    compare("using", operations: 2_000) {
        let factories = Factories()
        factories.store(Leaf1.self, Leaf1())
        factories.store(Leaf2.self, Leaf2())
        factories.store(Leaf3.self, Leaf3())
        factories.register(Handler.self) { f in
            Handler(
                first: try await f.ready(Leaf1.self), second: try await f.ready(Leaf2.self),
                third: try await f.ready(Leaf3.self))
        }
        let container = Container {
            Registration(Leaf1.self, instance: Leaf1())
            Registration(Leaf2.self, instance: Leaf2())
            Registration(Leaf3.self, instance: Leaf3())
            Registration(using: Handler.init, lifetime: .transient)
        }
        return .each {
            for _ in 0..<$0 { keep(try await container.resolve(Handler.self)) }
        } baseline: {
            for _ in 0..<$0 { keep(try await factories.resolve(Handler.self)) }
        }
    }
}

/// The same with only the unavoidable cost of any container.
func registerGraphFloors() {
    compare("floor-tree", operations: 1_000) {
        let factories = treeFactories()
        let binding = BindingFactories()
        binding.register(Leaf1.self) { _ in Leaf1() }
        binding.register(Leaf2.self) { _ in Leaf2() }
        binding.register(Leaf3.self) { _ in Leaf3() }
        binding.register(Leaf4.self) { _ in Leaf4() }
        binding.register(Branch1.self) { f in
            Branch1(try await f.resolve(Leaf1.self), try await f.resolve(Leaf2.self))
        }
        binding.register(Branch2.self) { f in
            Branch2(try await f.resolve(Leaf3.self), try await f.resolve(Leaf4.self))
        }
        binding.register(Tree.self) { f in Tree(try await f.resolve(Branch1.self), try await f.resolve(Branch2.self)) }
        return .each {
            for _ in 0..<$0 { keep(try await binding.resolve(Tree.self)) }
        } baseline: {
            for _ in 0..<$0 { keep(try await factories.resolve(Tree.self)) }
        }
    }
    compare("floor-diamond", operations: 1_000) {
        let factories = diamondFactories()
        let binding = BindingFactories()
        binding.registerShared(Bottom.self) { _, _ in Bottom() }
        binding.registerShared(Left.self) { f, graph in Left(try await f.resolve(Bottom.self, in: graph)) }
        binding.registerShared(Right.self) { f, graph in Right(try await f.resolve(Bottom.self, in: graph)) }
        binding.registerShared(Diamond.self) { f, graph in
            Diamond(try await f.resolve(Left.self, in: graph), try await f.resolve(Right.self, in: graph))
        }
        return .each {
            for _ in 0..<$0 { keep(try await binding.resolve(Diamond.self, in: BindingFactories.Graph())) }
        } baseline: {
            for _ in 0..<$0 { keep(try await factories.resolve(Diamond.self, in: Factories.Graph())) }
        }
    }
}

@RegistrationBuilder
func treeOfClosures() -> Registrations {
    Registration(Leaf1.self, lifetime: .transient) { _ in Leaf1() }
    Registration(Leaf2.self, lifetime: .transient) { _ in Leaf2() }
    Registration(Leaf3.self, lifetime: .transient) { _ in Leaf3() }
    Registration(Leaf4.self, lifetime: .transient) { _ in Leaf4() }
    Registration(Branch1.self, lifetime: .transient) { r in try await Branch1(r.resolve(), r.resolve()) }
    Registration(Branch2.self, lifetime: .transient) { r in try await Branch2(r.resolve(), r.resolve()) }
    Registration(Tree.self, lifetime: .transient) { r in try await Tree(r.resolve(), r.resolve()) }
}

@RegistrationBuilder
func diamondOfClosures() -> Registrations {
    Registration(Bottom.self, lifetime: .graph) { _ in Bottom() }
    Registration(Left.self, lifetime: .graph) { r in try await Left(r.resolve()) }
    Registration(Right.self, lifetime: .graph) { r in try await Right(r.resolve()) }
    Registration(Diamond.self, lifetime: .graph) { r in try await Diamond(r.resolve(), r.resolve()) }
}

private func treeFactories() -> Factories {
    let factories = Factories()
    factories.register(Leaf1.self) { _ in Leaf1() }
    factories.register(Leaf2.self) { _ in Leaf2() }
    factories.register(Leaf3.self) { _ in Leaf3() }
    factories.register(Leaf4.self) { _ in Leaf4() }
    factories.register(Branch1.self) { f in
        Branch1(try await f.resolve(Leaf1.self), try await f.resolve(Leaf2.self))
    }
    factories.register(Branch2.self) { f in
        Branch2(try await f.resolve(Leaf3.self), try await f.resolve(Leaf4.self))
    }
    factories.register(Tree.self) { f in Tree(try await f.resolve(Branch1.self), try await f.resolve(Branch2.self)) }
    return factories
}

private func diamondFactories() -> Factories {
    let factories = Factories()
    factories.registerShared(Bottom.self) { _, _ in Bottom() }
    factories.registerShared(Left.self) { f, graph in Left(try await f.resolve(Bottom.self, in: graph)) }
    factories.registerShared(Right.self) { f, graph in Right(try await f.resolve(Bottom.self, in: graph)) }
    factories.registerShared(Diamond.self) { f, graph in
        Diamond(try await f.resolve(Left.self, in: graph), try await f.resolve(Right.self, in: graph))
    }
    return factories
}
