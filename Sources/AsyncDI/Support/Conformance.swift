/// Whether instances of `type` are also a `Service`, decided without an instance: for "did you mean" messages.
///
/// A cast needs a value, or the metatype of `any P`, which generic code cannot spell. The metatype is therefore looked
/// up by its mangled name: that of `any P` with the suffix of a metatype. When that fails, the answer is no.
func conforms<Service>(_ type: any Any.Type, to service: Service.Type) -> Bool {
    if type == service { return false }
    guard let name = _mangledTypeName(service), let metatype = _typeByName(name + "Xp") ?? _typeByName(name + "m")
    else {
        return false
    }
    func isInstance<T>(of: T.Type) -> Bool { type is T }
    return isInstance(of: metatype)
}
