/// What is created once at a time in one place: a registration, by identity, with its arguments.
struct CreationKey: Hashable, Sendable {
    let recipe: Recipe
    /// Nil for a registration without arguments.
    let arguments: ArgumentKey?
    /// The container that was asked, where one place serves several: a graph.
    let asked: ObjectIdentifier?

    init(_ recipe: Recipe, _ pack: ArgumentPack, asked: (any ResolutionHost)? = nil) {
        self.recipe = recipe
        self.asked = asked.map { ObjectIdentifier($0) }
        arguments = recipe.key.arguments == nil ? nil : recipe.blueprint.argumentKey(pack)
    }

    /// The key of an instance that was registered as such, and of a service without arguments.
    init(withoutArguments recipe: Recipe, asked: (any ResolutionHost)? = nil) {
        self.recipe = recipe
        self.asked = asked.map { ObjectIdentifier($0) }
        arguments = nil
    }

    /// Whether it can be found again: not when an argument is like NaN.
    var isEqualToItself: Bool { arguments.map { $0 == $0 } ?? true }

    static func == (first: CreationKey, second: CreationKey) -> Bool {
        first.recipe === second.recipe && first.asked == second.asked
            && first.arguments == second.arguments
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(recipe))
        hasher.combine(asked)
        if let arguments { hasher.combine(arguments) }
    }
}
