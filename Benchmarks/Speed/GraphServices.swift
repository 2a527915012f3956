final class Leaf1: Sendable {}
final class Leaf2: Sendable {}
final class Leaf3: Sendable {}
final class Leaf4: Sendable {}

final class Branch1: Sendable {
    private let leaves: (Leaf1, Leaf2)
    init(_ first: Leaf1, _ second: Leaf2) { leaves = (first, second) }
}

final class Branch2: Sendable {
    private let leaves: (Leaf3, Leaf4)
    init(_ first: Leaf3, _ second: Leaf4) { leaves = (first, second) }
}

final class Tree: Sendable {
    private let branches: (Branch1, Branch2)
    init(_ first: Branch1, _ second: Branch2) { branches = (first, second) }
}

final class Bottom: Sendable {}

final class Left: Sendable {
    fileprivate let bottom: Bottom
    init(_ bottom: Bottom) { self.bottom = bottom }
}

final class Right: Sendable {
    fileprivate let bottom: Bottom
    init(_ bottom: Bottom) { self.bottom = bottom }
}

final class Diamond: Sendable {
    init(_ left: Left, _ right: Right) { precondition(left.bottom === right.bottom) }
}

final class Handler: Sendable {
    private let dependencies: (Leaf1, Leaf2, Leaf3)
    init(first: Leaf1, second: Leaf2, third: Leaf3) { dependencies = (first, second, third) }
}
