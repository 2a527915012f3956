import AsyncDI
import AsyncDIWiring
import CyclicWiring

@main struct CheckWiring: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
