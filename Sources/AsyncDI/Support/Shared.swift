/// A constant behind a reference: what is large and rare costs those who do not have it one word.
final class Shared<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: consuming Value) { self.value = consume value }
}
