import Testing

@testable import AsyncDI

private protocol Pet {}
private protocol Named {}
private protocol Store<Item> { associatedtype Item }
protocol Wardrobe<Item> { associatedtype Item }
private protocol Entries<Value, Key> {
    associatedtype Key
    associatedtype Value
}
private protocol Listener: AnyObject {}
private struct Dog: Pet { struct Tail {} }
private final class Owner {}
private struct Box<Content> {}
private struct Lid<First, Second> {}

enum Outer {
    struct Config: Hashable { struct Deep {} }
    protocol Part {}
    enum `odd.name` { struct Inner {} }
    struct Of<Content> { struct Inner<Other> {} }
}

extension String {
    struct Extended {}
}

/// Names of types as their author writes them.
@Suite(.timeLimit(.minutes(10))) struct TypeNamesTests {
    @Test func `a type is called by its name, without its module`() {
        #expect(readableName(of: Int.self) == "Int")
        #expect(readableName(of: Dog.self) == "Dog")
        #expect(readableName(of: Owner.self) == "Owner")
        #expect(readableName(of: Dog.Tail.self) == "Dog.Tail")
    }

    @Test func `a nested type has the names of its outer types`() {
        #expect(readableName(of: Outer.Config.self) == "Outer.Config")
        #expect(readableName(of: Outer.Config.Deep.self) == "Outer.Config.Deep")
        #expect(readableName(of: (any Outer.Part).self) == "Outer.Part")
        #expect(readableName(of: Outer.`odd.name`.Inner.self) == "Outer.`odd.name`.Inner")
        #expect(readableName(of: String.Extended.self) == "String.Extended")
        #expect(metatypeExpression(Outer.Config.self) == "Outer.Config.self")
        #expect(metatypeExpression((any Outer.Part).self) == "(any Outer.Part).self")
    }

    @Test func `a nested type is named in other types too`() {
        #expect(readableName(of: Outer.Config?.self) == "Outer.Config?")
        #expect(readableName(of: [Outer.Config: [Outer.Config]].self) == "[Outer.Config: [Outer.Config]]")
        #expect(readableName(of: Box<Outer.Config>.self) == "Box<Outer.Config>")
        #expect(
            readableName(of: Lid<Outer.Config, (Outer.Config) -> Int>.self)
                == "Lid<Outer.Config, (Outer.Config) -> Int>")
        #expect(readableName(of: Outer.Of<Int>.Inner<Outer.Config>.self) == "Outer.Of<Int>.Inner<Outer.Config>")
        #expect(readableName(of: (Int, Outer.Config).self) == "(Int, Outer.Config)")
        #expect(readableName(of: Outer.Config.Type.self) == "Outer.Config.Type")
        #expect(readableName(of: (Int, Outer.Config).Type.self) == "(Int, Outer.Config).Type")
        #expect(
            readableName(of: (@Sendable (inout Outer.Config, Int...) async throws -> Outer.Config).self)
                == "@Sendable (inout Outer.Config, Int...) async throws -> Outer.Config")
    }

    @Test func `a type that code elsewhere cannot spell has its own name alone`() {
        struct Local {
            struct Inner {}
        }
        #expect(readableName(of: Local.self) == "Local")
        #expect(readableName(of: Local.Inner.self) == "Local.Inner")
        #expect(readableName(of: Box<Local>.self) == "Box<Local>")
        #expect(readableName(of: Hidden.self) == "Hidden")
        #expect(readableName(of: Outer.Of<Hidden>.Inner<Local>.self) == "Outer.Of<Hidden>.Inner<Local>")
    }

    private struct Hidden {}

    @Test func `a constrained existential is spelled as in source code, as far as its constraint tells`() {
        #expect(readableName(of: (any Wardrobe<Int>).self) == "any Wardrobe<Int>")
        #expect(readableName(of: (any Wardrobe<Outer.Config>).self) == "any Wardrobe<Outer.Config>")
        #expect(
            readableName(of: Outer.Of<any Wardrobe<Int>>.Inner<Int>.self) == "Outer.Of<any Wardrobe<Int>>.Inner<Int>")
        #expect(typeExpression((any Wardrobe<Int>).self) == "any Wardrobe<Int>")
        #expect(metatypeExpression((any Wardrobe<Int>).self) == "(any Wardrobe<Int>).self")
        let others: [any Any.Type] = [
            (any Wardrobe<any Wardrobe<Int>>).self, (any Pet & Wardrobe<Int>).self, (any Entries<Int, Bool>).self,
            (any Store<Int>).self, Outer.Of<any Store<Int>>.Inner<Int>.self,
        ]
        for type in others {
            #expect(readableName(of: type) == _typeName(type, qualified: false))
        }
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
        #expect(readableName(of: ((Int) -> Int)?.self) == "((Int) -> Int)?")
        #expect(readableName(of: (any Wardrobe<Int>)?.self) == "(any Wardrobe<Int>)?")
        #expect(readableName(of: (any Pet & Named)?.self) == "(Named & Pet)?")
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
        #expect(metatypeExpression(((Int) -> Int).self) == "((Int) -> Int).self")
        #expect(metatypeExpression(Box<(Int) -> Int>.self) == "Box<(Int) -> Int>.self")
        #expect(metatypeExpression([(Int) -> Int].self) == "[(Int) -> Int].self")
        #expect(metatypeExpression((Int, () -> Int).self) == "(Int, () -> Int).self")
        #expect(metatypeExpression(((Int) -> Int)?.self) == "((Int) -> Int)?.self")
        #expect(metatypeExpression((any Pet)?.self) == "(any Pet)?.self")
        #expect(metatypeExpression([any Pet].self) == "[any Pet].self")
        #expect(metatypeExpression((any Pet & Named)?.self) == "(any Named & Pet)?.self")
        #expect(metatypeExpression((any Wardrobe<Int>)?.self) == "(any Wardrobe<Int>)?.self")
    }
}
