/// What is created once at a time in one place: a registration, by identity, with its arguments.
///
/// The key keeps the registration alive, so that its address is that of no other one.
struct CreationKey: Hashable, Sendable {
    let recipe: Recipe
    let arguments: ArgumentKey
    /// The number of the container that was asked, where one place serves several: a graph.
    ///
    /// A number and not the container, which must not live as long as a graph that somebody keeps; and not its address,
    /// which may be that of another one by then.
    let asked: UInt64?

    init(_ recipe: Recipe, _ pack: ArgumentPack, asked: (any ResolutionHost)? = nil) {
        self.recipe = recipe
        self.asked = asked?.number
        arguments = recipe.key.arguments == nil ? .none : recipe.blueprint.argumentKey(of: pack)
    }

    /// The key of an instance that was registered as such, and of a service without arguments.
    init(withoutArguments recipe: Recipe, asked: (any ResolutionHost)? = nil) {
        self.recipe = recipe
        arguments = .none
        self.asked = asked?.number
    }

    /// The key that an instance was cached under.
    init(_ recipe: Recipe, _ arguments: ArgumentKey) {
        self.recipe = recipe
        self.arguments = arguments
        asked = nil
    }

    /// Whether it can be found again: not when an argument is like NaN.
    var isEqualToItself: Bool { arguments == arguments }

    static func == (first: CreationKey, second: CreationKey) -> Bool {
        first.recipe === second.recipe && first.asked == second.asked && first.arguments == second.arguments
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(recipe))
        hasher.combine(asked)
        hasher.combine(arguments.hash)
    }
}
