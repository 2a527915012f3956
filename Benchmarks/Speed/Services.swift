import AsyncDI

/// The services of most workloads.
protocol Service: Sendable {
    var number: Int { get }
}

final class SomeService: Service {
    let number: Int
    init(_ number: Int = 1) { self.number = number }
}

/// Keeps the optimizer from removing the measured code.
@inline(never)
func consume(_ service: any Service) { precondition(service.number > 0) }

/// The same for instances of known type.
@inline(never)
func keep(_ instance: AnyObject) { withExtendedLifetime(instance) {} }

/// Tells any number of registrations of one type apart.
struct Slot: Qualifier { let index: Int }

/// A hundred types that differ in their names alone.
protocol Numbered: AnyObject, Sendable {
    init()
}

final class Made<First, Second>: Numbered, Sendable {}

private enum Digit0 {}
private enum Digit1 {}
private enum Digit2 {}
private enum Digit3 {}
private enum Digit4 {}
private enum Digit5 {}
private enum Digit6 {}
private enum Digit7 {}
private enum Digit8 {}
private enum Digit9 {}

let hundredTypes: [any Numbered.Type] = {
    let digits: [Any.Type] = [
        Digit0.self, Digit1.self, Digit2.self, Digit3.self, Digit4.self, Digit5.self, Digit6.self, Digit7.self,
        Digit8.self, Digit9.self,
    ]
    func made<First, Second>(_: First.Type, _: Second.Type) -> any Numbered.Type { Made<First, Second>.self }
    return digits.flatMap { first in digits.map { second in made(first, second) } }
}()

/// A singleton whose factory does not suspend.
@RegistrationBuilder
func singleton<Value: Numbered>(of type: Value.Type) -> Registrations {
    Registration(Value.self, lifetime: .singleton) { _ in Value() }
}

/// The service, among a hundred registrations.
@RegistrationBuilder
func serviceAmongHundred() -> Registrations {
    Registration((any Service).self, lifetime: .singleton) { _ in SomeService() }
    for type in hundredTypes.dropFirst() { singleton(of: type) }
}

/// A container with the service among a hundred registrations, the service ready.
func readyContainer() async throws -> Container {
    let container = Container { serviceAmongHundred() }
    _ = try await container.resolve((any Service).self)
    return container
}
