package import AsyncDI

final class Store {
    init() {}
}
final class Screen {
    init(store: Store, theme: Theme) {}
}
struct Theme {}

package func makeContainer() -> Container {
    Container(name: "app") {
        Registration(using: Store.init, lifetime: .singleton)
        Registration(using: Screen.init)
    }
}
