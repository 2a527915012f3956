import Testing

@testable import AsyncDI

protocol PublicPet {}
private protocol PrivatePet {}
private protocol Listener: AnyObject {}
private protocol Store<Item> { associatedtype Item }
private protocol Refined: PrivatePet {}
private protocol SelfBound { func same(as other: Self) -> Bool }
private class Animal {}
private protocol NeedsAnimal: Animal {}

private struct Dog: PublicPet, PrivatePet {}
private struct Puppy: Refined {}
private final class Ear: Listener, PublicPet {}
private final class Cat: Animal, NeedsAnimal, PrivatePet {}
private struct Box<Content>: PublicPet {}
private struct Shelf<Content>: Store { typealias Item = Content }
extension Array: PrivatePet where Element: PrivatePet {}
private enum Level: SelfBound { case one; func same(as other: Level) -> Bool { true } }

/// Conformance without a value: right where the runtime answers, no elsewhere, and never a crash.
@Suite(.timeLimit(.minutes(10))) struct ConformanceTests {
    @Test func `a type conforms to the protocols that it declares`() {
        #expect(conforms(Dog.self, to: (any PublicPet).self))
        #expect(conforms(Ear.self, to: (any PublicPet).self))
        #expect(!conforms(Int.self, to: (any PublicPet).self))
        #expect(!conforms(Cat.self, to: (any PublicPet).self))
    }

    @Test func `a conformance to a private protocol is never claimed wrongly`() {
        #expect(!conforms(Int.self, to: (any PrivatePet).self))
        #expect(!conforms(Ear.self, to: (any PrivatePet).self))
        // Either answer is allowed, so long as there is one: a private name may not be found again.
        _ = conforms(Dog.self, to: (any PrivatePet).self)
        _ = conforms(Puppy.self, to: (any PrivatePet).self)
        _ = conforms(Puppy.self, to: (any Refined).self)
    }

    @Test func `a conformance to a class-constrained protocol or composition is never claimed wrongly`() {
        #expect(!conforms(Dog.self, to: (any Listener).self))
        #expect(!conforms(Cat.self, to: (any Listener).self))
        #expect(!conforms(Dog.self, to: (any Listener & PublicPet).self))
        #expect(!conforms(Dog.self, to: (any NeedsAnimal).self))
        _ = conforms(Ear.self, to: (any Listener).self)
        _ = conforms(Ear.self, to: (any Listener & PublicPet).self)
        _ = conforms(Cat.self, to: (any NeedsAnimal).self)
        _ = conforms(Cat.self, to: (any Animal & PrivatePet).self)
        _ = conforms(Ear.self, to: AnyObject.self)
    }

    @Test func `conformances of generic types, and to generic protocols, are found`() {
        #expect(conforms(Box<Int>.self, to: (any PublicPet).self))
        #expect(conforms(Box<Box<any PublicPet>>.self, to: (any PublicPet).self))
        #expect(!conforms(Shelf<Int>.self, to: (any PublicPet).self))
        #expect(!conforms([Int].self, to: (any PrivatePet).self))
        _ = conforms(Shelf<Int>.self, to: (any Store).self)
        _ = conforms(Shelf<Int>.self, to: (any Store<Int>).self)
        #expect(!conforms(Int.self, to: (any Store<Int>).self))
        _ = conforms([Dog].self, to: (any PrivatePet).self)
        _ = conforms(Level.self, to: (any SelfBound).self)
        func inside<T>(_: T.Type) -> Bool { conforms(Box<T>.self, to: (any PublicPet).self) }
        #expect(inside(String.self))
    }

    @Test func `conformances to protocols of the standard library are found`() {
        #expect(conforms(Int.self, to: (any CustomStringConvertible).self))
        #expect(conforms(TestError.self, to: (any Error).self))
        #expect(!conforms(Dog.self, to: (any Error).self))
        _ = conforms(Int.self, to: (any Hashable).self)
        _ = conforms(Dog.self, to: (any Sendable).self)
        _ = conforms(Dog.self, to: Any.self)
    }

    @Test func `no type conforms to a type that is not a protocol`() {
        struct Local {}
        for type in [Dog.self, Ear.self, Box<Int>.self, Local.self] as [Any.Type] {
            #expect(!conforms(type, to: Int.self))
            #expect(!conforms(type, to: Dog?.self))
            #expect(!conforms(type, to: (Int, Dog).self))
            #expect(!conforms(type, to: ((Dog) -> Dog).self))
            #expect(!conforms(type, to: Animal.self))
            #expect(!conforms(type, to: Local.self))
        }
        #expect(!conforms(Dog.self, to: Dog.self), "a type is no near miss of itself")
        #expect(!conforms((any PublicPet).self, to: (any PublicPet).self))
    }

    @Test func `conformance may be asked about any type`() {
        let odd: [Any.Type] = [
            Any.self, Void.self, Never.self, AnyObject.self, (any PublicPet).self, (any PublicPet & Listener).self,
            (any PublicPet.Type).self, Dog.Type.self, ((Int) -> Void).self, (Int, Int).self, Dog?.self,
        ]
        for type in odd {
            _ = conforms(type, to: (any PublicPet).self)
            _ = conforms(type, to: (any Listener).self)
            _ = conforms(type, to: (any PublicPet.Type).self)
            func ask<Service>(_ service: Service.Type) -> Bool { conforms(type, to: service) }
            for other in odd { _ = _openExistential(other, do: ask) }
        }
    }
}
