import AsyncDI
import AsyncDIWiring
import MissingWiring

@main struct CheckWiring: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
