package import AsyncDI

final class Hen: Sendable {
    init(egg: Egg) {}
}
final class Egg: Sendable {
    init(hen: Hen) {}
}

package func makeContainer() -> Container {
    Container(name: "app") {
        Registration(using: Hen.init)
        Registration(using: Egg.init)
    }
}
