/// A constant behind a reference: a large and rare value costs one word where it is absent.
final class Shared<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: consuming Value) { self.value = consume value }
}
