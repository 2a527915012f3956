import AsyncDI
import AsyncDIWiring
import LargeWiring

@main struct CheckWiring: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
