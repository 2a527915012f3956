package import AsyncDI

struct Font: Sendable {}
struct Page: Sendable {
    let font: Font
}
struct Editor: Sendable {
    let page: Page
}

package func makeContainer() -> Container {
    Container(name: "app") {
        Registration(using: Editor.init)
        Registration(using: Page.init)
    }
}
