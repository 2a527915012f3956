import Testing

@testable import AsyncDI

private protocol Pet {}
private protocol Named {}
private protocol Store<Item> { associatedtype Item }
private protocol Listener: AnyObject {}
private struct Dog: Pet { struct Tail {} }
private final class Owner {}
private struct Box<Content> {}
private struct Lid<First, Second> {}

/// Names of types as their author writes them.
@Suite(.timeLimit(.minutes(10))) struct TypeNamesTests {
    @Test func `a type is called by its name, without module or outer type`() {
        #expect(readableName(of: Int.self) == "Int")
        #expect(readableName(of: Dog.self) == "Dog")
        #expect(readableName(of: Owner.self) == "Owner")
        #expect(readableName(of: Dog.Tail.self) == "Tail")
    }

    @Test func `an existential type is called by its protocol`() {
        #expect(readableName(of: (any Pet).self) == "Pet")
        #expect(readableName(of: (any Listener).self) == "Listener")
        #expect(readableName(of: (any Pet & Named).self) == "Named & Pet")
        #expect(readableName(of: Any.self) == "Any")
    }

    @Test func `optionals, arrays and dictionaries are written with punctuation`() {
        #expect(readableName(of: Int?.self) == "Int?")
        #expect(readableName(of: Int??.self) == "Int??")
        #expect(readableName(of: [Int].self) == "[Int]")
        #expect(readableName(of: [String: Dog].self) == "[String: Dog]")
        #expect(readableName(of: [[Int?]?].self) == "[[Int?]?]")
        #expect(readableName(of: [String: [Dog?]]?.self) == "[String: [Dog?]]?")
    }

    @Test func `generic types have their parameters`() {
        #expect(readableName(of: Box<Int>.self) == "Box<Int>")
        #expect(readableName(of: Lid<Int, String>.self) == "Lid<Int, String>")
        #expect(readableName(of: Set<Int>.self) == "Set<Int>")
    }

    @Test func `tuples, functions and metatypes have names`() {
        #expect(readableName(of: Void.self) == "()")
        #expect(readableName(of: (Int, String).self) == "(Int, String)")
        #expect(readableName(of: ((Int) -> String).self) == "(Int) -> String")
        #expect(readableName(of: Dog.Type.self) == "Dog.Type")
    }

    @Test func `a metatype is written as an expression that compiles`() {
        #expect(metatypeExpression(Dog.self) == "Dog.self")
        #expect(metatypeExpression(Dog?.self) == "Dog?.self")
        #expect(metatypeExpression((any Pet).self) == "(any Pet).self")
        #expect(metatypeExpression((any Listener).self) == "(any Listener).self")
        #expect(metatypeExpression([Int].self) == "[Int].self")
    }
}
