extension RecordedService {
    /// The modifier that declares this dependency, as source code: `.dependency(URL.self, qualifier: Env.prod)`.
    var declaration: String {
        let service = isGroup ? "[\(typeExpression(key.service))].self" : metatypeExpression(key.service)
        let arguments = key.argumentTypes.map(metatypeExpression)
        if key.qualifier == nil, arguments.isEmpty { return ".dependencies(\(service))" }
        let list = arguments.isEmpty ? "" : ", arguments: " + arguments.joined(separator: ", ")
        return ".dependency(\(service)\(key.qualifierArgument)\(list))"
    }
}

extension ServiceKey {
    /// The qualifier as a further argument in source code, `, qualifier: Env.prod`; empty without one.
    var qualifierArgument: String { qualifier.map { ", qualifier: \(expression(of: $0))" } ?? "" }

    /// A registration of the key in source code: `Registration(URL.self, qualifier: Env.prod) { (_, _: Int) in … }`.
    var registration: String {
        let parameters = argumentTypes.map { ", _: \(parameterExpression($0))" }.joined()
        let factory = parameters.isEmpty ? "{ … }" : "{ (_\(parameters)) in … }"
        let label = isMaking ? "making: " : ""
        // Arguments that are not `Hashable` need a lifetime without a cache.
        let isComparable = isMaking || argumentTypes.allSatisfy { $0 is any Hashable.Type }
        let lifetime = isComparable ? "" : ", lifetime: .transient"
        return "Registration(\(label)\(metatypeExpression(service))\(qualifierArgument)\(lifetime)) \(factory)"
    }
}

/// A qualifier or its key as source code, as far as its value shows it: `…` stands for the rest.
private func expression(of value: Any) -> String {
    switch value {
    case let text as String: return singleLine(reflecting: text)
    case let number as any BinaryInteger: return "\(number)"
    case let flag as Bool: return "\(flag)"
    case let qualifier as any KeyedQualifier: return ".key(\(expression(of: qualifier.anyKey)))"
    default: break
    }
    let type = readableName(of: Swift.type(of: value))
    let mirror = Mirror(reflecting: value)
    // A case without values is printed as its name, unless its type prints itself in another way.
    let isPlainCase = mirror.displayStyle == .enum && mirror.children.isEmpty
    if isPlainCase, !(value is any CustomStringConvertible), !(value is any CustomDebugStringConvertible) {
        return "\(type).\(value)"
    }
    return "\(type)(…)"
}

/// A qualifier made of another value.
private protocol KeyedQualifier {
    var anyKey: Any { get }
}

extension KeyQualifier: KeyedQualifier {
    fileprivate var anyKey: Any { key }
}
