/// Bytes, read one after the other; zeros after the last one.
struct Input {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func next() -> Int { Int(bytes.popFirst() ?? 0) }
    mutating func below(_ bound: Int) -> Int { next() % bound }
}

/// The content of a registration.
struct Recipe: Sendable {
    let sharing: GraphModel.Sharing
    let dependencies: [Int]
}

/// A request: a node of a container.
struct Ask: Sendable {
    let node: Int
    let container: Int
}

/// A change of a container.
enum Change: Sendable {
    case register(Int, Recipe)
    case unregister(Int)
    case reset(ReferenceModel.Selection)
    case close
}

enum Operation: Sendable {
    case resolve(Ask)
    /// Simultaneous requests; one of them may be cancelled after a number of steps.
    case burst([Ask], cancelling: Int?, after: Int)
    case change(Change, container: Int)
    /// Requests during a change.
    case race([Ask], Change, container: Int)
    /// A lease that lasts through a change.
    case lease(Ask, Change, container: Int, steps: Int)
    case openScope(parent: Int)
    /// A scope with a body, which may override a registration, resolves, and may throw.
    case withScope(parent: Int, override: (node: Int, Recipe)?, nodes: [Int], fails: Bool)
}

/// A small application and operations on it, as encoded by bytes.
///
/// Numbers identify containers; that of a closed one stands for the nearest open one before it.
struct Program: Sendable {
    static let mostOperations = 20
    static let mostContainers = 4

    let seed: UInt64
    let recipes: [Recipe]
    private(set) var operations: [Operation] = []

    init(_ bytes: [UInt8]) {
        var input = Input(bytes)
        seed = UInt64(input.next())
        let nodes = 2 + input.below(4)
        recipes = (0..<nodes).map { Self.recipe(for: $0, of: nodes, &input) }
        while !input.isEmpty, operations.count < Self.mostOperations {
            operations.append(Self.operation(nodes, &input))
        }
    }

    /// Usually resolves only earlier nodes; with a certain bit, any other nodes too.
    private static func recipe(for node: Int, of nodes: Int, _ input: inout Input) -> Recipe {
        let first = input.next()
        let mask = input.next()
        let sharings: [GraphModel.Sharing] = [
            .singleton, .scoped, .graph, .transient, .weak, .singleton, .scoped, .graph,
        ]
        let bound = first & 0xC0 == 0xC0 ? nodes : node
        return Recipe(
            sharing: sharings[first & 7], dependencies: (0..<bound).filter { mask & (1 << $0) != 0 }.suffix(3))
    }

    private static func ask(_ nodes: Int, _ input: inout Input) -> Ask {
        let byte = input.next()
        return Ask(node: (byte & 15) % nodes, container: (byte >> 4) % mostContainers)
    }

    private static func change(_ nodes: Int, _ input: inout Input) -> Change {
        let byte = input.next()
        let node = (byte >> 4) % nodes
        switch byte & 7 {
        case 0, 1, 2: return .register(node, recipe(for: node, of: nodes, &input))
        case 3: return .unregister(node)
        case 4: return .reset(.node(node))
        case 5: return .reset(.sharing([.singleton, .scoped, .weak][node % 3]))
        case 6: return .reset(.everything)
        default: return .close
        }
    }

    private static func operation(_ nodes: Int, _ input: inout Input) -> Operation {
        let byte = input.next()
        let container = (byte >> 4) % mostContainers
        switch byte & 15 {
        case 0, 1, 2: return .resolve(ask(nodes, &input))
        case 3, 4: return .burst(asks(nodes, &input), cancelling: nil, after: 0)
        case 5, 6:
            let asks = asks(nodes, &input)
            let next = input.next()
            return .burst(asks, cancelling: next % asks.count, after: next >> 4)
        case 7, 8, 9: return .change(change(nodes, &input), container: container)
        case 10, 11: return .race(asks(nodes, &input), change(nodes, &input), container: container)
        case 12: return .lease(ask(nodes, &input), change(nodes, &input), container: container, steps: input.below(8))
        case 13, 14: return .openScope(parent: container)
        default:
            let next = input.next()
            let node = (next >> 4) % nodes
            return .withScope(
                parent: container, override: next & 1 == 0 ? nil : (node, recipe(for: node, of: nodes, &input)),
                nodes: (0...(next >> 2 & 1)).map { _ in input.below(nodes) }, fails: next & 2 != 0)
        }
    }

    private static func asks(_ nodes: Int, _ input: inout Input) -> [Ask] {
        (0..<(2 + input.below(3))).map { _ in ask(nodes, &input) }
    }
}
