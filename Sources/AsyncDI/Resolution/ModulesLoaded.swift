/// The empty product of loading modules.
///
/// The loading is a creation, so that it runs once at a time and can be awaited, cancelled and retried. Messages call
/// it by the method that it calls.
struct ModulesLoaded: Sendable, NamedInMessages {
    static func nameInMessages(of part: (any Any.Type) -> String) -> String { "Module.loaded" }
}

extension Binding {
    /// Whether its creation calls `loaded` of modules.
    var loadsModules: Bool { key.service == ModulesLoaded.self }
}
