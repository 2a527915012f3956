import AsyncDI
import AsyncDIWiring
import MismatchedWiring

@main struct CheckWiring: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
